-- What a one-pass key is for: a sign-in, or a change of the second factor.
alter table login
  add column kind text not null default 'login' check (kind in ('login', 'twoFactor')),
  -- loginTwoFactorTypes: 0 by mail, 1 by authenticator, 2 none needed
  add column type smallint not null default 2 check (type in (0, 1, 2)),
  -- of a change: what is wished, and the new authenticator's secret, sealed
  add column wanted smallint check (wanted in (0, 1, 2)),
  add column secret text;

-- The second factor a person chose.
alter table account add column "twoFactor" smallint not null default 2 check ("twoFactor" in (0, 1, 2));

create table authenticator (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  -- sealed
  secret text,
  -- the latest step whose code was taken: no code opens twice
  step bigint not null,
  -- recovery codes that are left, as proofs of the installation
  recovery text[] not null default '{}',
  "createdAt" timestamptz not null default now()
);
create unique index authenticator_account on authenticator ("accountID");

-- Links by which somebody sets a password.
create table "mailLink" (
  hash bytea primary key,
  "accountID" bigint not null references account,
  "expiredAt" timestamptz not null,
  "usedAt" timestamptz,
  -- another one was sent
  "replacedAt" timestamptz,
  "createdAt" timestamptz not null default now()
);
create index mail_link_account on "mailLink" ("accountID");
create index mail_link_created on "mailLink" ("createdAt");
