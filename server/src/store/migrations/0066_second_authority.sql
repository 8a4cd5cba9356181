-- Which authority is asked in the place of "provider" the next time, and when it was turned to one last.
alter table "autoCertificate" add column instead text;
alter table "autoCertificate" add column "insteadAt" timestamptz;
