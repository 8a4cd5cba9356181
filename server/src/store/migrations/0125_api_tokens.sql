-- Tokens for programs: what one may do is what its owner holds now, as far as it is named here.
create table "apiToken" (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  "rootID" bigint not null references account,
  name text not null,
  "permissionKeys" text[] not null,
  -- null: every site its owner sees
  "siteIDs" bigint[],
  -- empty: from everywhere
  networks text[] not null default '{}',
  "expiredAt" timestamptz,
  "lastUsedAt" timestamptz,
  "lastIP" text,
  -- the last characters of the token, by which people tell them apart
  ending text not null default '',
  -- SHA-256, also of the pair before, which goes on for the seconds in which it is replaced
  hash bytea not null default '',
  "refreshHash" bytea not null default '',
  "previousHash" bytea,
  "previousRefreshHash" bytea,
  "previousUntil" timestamptz,
  -- the pair that was answered for it, encrypted, so that the same can be answered again
  successor bytea,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "apiToken_account" on "apiToken" ("accountID") where "deletedAt" is null;
create index "apiToken_root" on "apiToken" ("rootID");
create index "apiToken_deleted" on "apiToken" ("deletedAt") where "deletedAt" is not null;

-- Which token acted, and under which name; what it began goes on while it is there, within what it may do.
alter table audit add column "tokenID" bigint, add column "tokenName" text;
alter table task add column "tokenID" bigint;
