-- Nobody answered when it was last looked where a domain leads: what stands there is of an earlier look.
alter table "cnameSeen" add column "isUnknown" boolean not null default false;
