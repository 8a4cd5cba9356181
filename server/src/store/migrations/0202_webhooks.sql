-- Where an operator, or a customer, is told of events by HTTP: one address of a root account, and what became of each telling.
create table webhook (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account,
  enable boolean not null default false,
  url text not null default '',
  -- sealed
  secret text,
  -- of which kinds it is told; none: of all
  kinds text[] not null default '{}',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index webhook_account on webhook ("accountID") where "deletedAt" is null;
create index webhook_deleted on webhook ("deletedAt") where "deletedAt" is not null;

create table "webhookDelivery" (
  id bigint generated always as identity primary key,
  "webhookID" bigint not null references webhook on delete cascade,
  kind text not null,
  body text not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  attempts int not null default 0,
  "nextAt" timestamptz not null default now(),
  "leasedUntil" timestamptz,
  -- the latest answer: its status, and how it begins; or what kept it from coming
  status int,
  answer text,
  problem text,
  "createdAt" timestamptz not null default now(),
  "sentAt" timestamptz
);
create index webhook_delivery_webhook on "webhookDelivery" ("webhookID", id);
create index webhook_delivery_due on "webhookDelivery" ("nextAt") where state = 'waiting';
