-- When an authority wants a certificate renewed (RFC 9773), and when it is asked again; null: nothing is to be asked.
alter table "autoCertificate" add column "windowFrom" timestamptz;
alter table "autoCertificate" add column "windowUntil" timestamptz;
alter table "autoCertificate" add column "askAt" timestamptz;
-- When it is renewed; "nextAt" is earlier where something else is wanted before that.
alter table "autoCertificate" add column "renewAt" timestamptz;
create index auto_certificate_ask on "autoCertificate" ("askAt") where "askAt" is not null and "deletedAt" is null;

update "autoCertificate" set "renewAt" = "nextAt", "askAt" = now() + random() * interval '6 hours'
  where state = 'success' and "deletedAt" is null;
