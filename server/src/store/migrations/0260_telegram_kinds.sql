-- Which events a chat is told of; `state` is what the console says above its pages, and all that chats were told of before.
alter table telegram add column kinds text[] not null default '{state}';

-- What a chat is to be told of, until it was: more of a kind count up, so that a storm is a line.
create table "telegramNotice" (
  id bigint generated always as identity primary key,
  "telegramID" bigint not null references telegram on delete cascade,
  kind text not null,
  count int not null,
  -- of the first few
  names jsonb not null,
  detail text not null,
  "createdAt" timestamptz not null default now()
);
create unique index telegram_notice_kind on "telegramNotice" ("telegramID", kind);
create index telegram_notice_created on "telegramNotice" ("createdAt");
