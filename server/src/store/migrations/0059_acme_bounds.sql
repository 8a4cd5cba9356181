-- When it was issued: nobody has the same name issued again and again.
alter table "autoCertificate" add column "issuedAt" timestamptz;
-- Limits in a row that the authority named for it, and for the account.
alter table "autoCertificate" add column limits int not null default 0;
alter table "acmeAccount" add column limits int not null default 0;

-- Whose the key of an order is: another task orders with another.
alter table "acmeOrder" add column "taskID" bigint references task on delete cascade;
create index acme_order_task on "acmeOrder" ("taskID") where "taskID" is not null;

-- What an authority said of one name, and of those below it: how long it wants no order.
create table "acmeLimit" (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references "acmeAccount" on delete cascade,
  name text not null,
  "until" timestamptz not null,
  "metAt" timestamptz not null default now()
);
create unique index acme_limit_is on "acmeLimit" ("accountID", name);
create index acme_limit_until on "acmeLimit" ("until");

-- Whoever deletes a domain and adds it again goes on where it stood.
create index domain_name_any on domain ("domainName");

-- From now on whoever deletes a certificate says when another is made.
update "autoCertificate" a set "nextAt" = null where a.state = 'success' and a."deletedAt" is null
  and not exists (select from certificate c where c.id = a."certificateID" and c."deletedAt" is null);
