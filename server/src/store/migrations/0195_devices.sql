-- From where and by what a session was opened, or last renewed; null: of before, or nobody's to know.
alter table session
  add column address text,
  add column "userAgent" text;

-- Whether somebody wants to be told of sign-ins from devices that were not seen before, and since when they sign in at all.
alter table account
  add column "newDeviceMail" boolean not null default true,
  add column "firstSignInAt" timestamptz;
update account a set "firstSignInAt" = s.at
  from (select "accountID", min("createdAt") as at from session where "proxyID" is null group by 1) s where s."accountID" = a.id;
-- Whose sessions were cleared away long ago is no newcomer: of whoever comes first to a dormant account its owner wants to know most.
update account set "firstSignInAt" = "createdAt" where "firstSignInAt" is null and password is not null;
