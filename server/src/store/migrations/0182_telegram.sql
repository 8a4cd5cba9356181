-- Notices by Telegram: one chat of an operator's or a customer's root account.
create table telegram (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  enable boolean not null default false,
  token text,
  "chatID" text not null default '',
  -- what was told and still holds, so that it is told once
  told jsonb not null default '[]',
  "nextAt" timestamptz not null default now(),
  "sentAt" timestamptz,
  problem text,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index telegram_account on telegram ("accountID") where "deletedAt" is null;
create index telegram_deleted on telegram ("deletedAt") where "deletedAt" is not null;
