-- By which provider the people of an operator sign in beside the password.
create table oidc (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  enable boolean not null default false,
  issuer text not null default '',
  client text not null default '',
  -- sealed
  secret text,
  label text not null default '',
  "forOperator" boolean not null default false,
  "forCustomers" boolean not null default false,
  "byEmail" boolean not null default false,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index oidc_client on oidc ("clientID") where "deletedAt" is null;
create index oidc_clients on oidc ("clientID");
create index oidc_deleted on oidc ("deletedAt") where "deletedAt" is not null;

-- Who of a provider an account is: believed of that operator's provider alone.
create table identity (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  "clientID" bigint not null references account,
  area text not null,
  issuer text not null,
  subject text not null,
  name text not null default '',
  "createdAt" timestamptz not null default now(),
  "lastUsedAt" timestamptz
);
create unique index identity_subject on identity ("clientID", area, issuer, subject);
create index identity_account on identity ("accountID");

-- Who went to a provider and is to come back. What it sent along is reckoned from the key that the page alone has.
create table "oidcFlow" (
  hash bytea primary key,
  "clientID" bigint not null references account,
  area text not null,
  -- who makes a link; null: somebody signs in
  "accountID" bigint references account,
  origin text not null,
  "expiredAt" timestamptz not null
);
create index oidc_flow_client on "oidcFlow" ("clientID");
create index oidc_flow_account on "oidcFlow" ("accountID");
create index oidc_flow_expired on "oidcFlow" ("expiredAt");
