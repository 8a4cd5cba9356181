-- Open join lines are listed and taken back: rows that have a number. What is taken back is deleted, and opens nothing any more.
alter table "joinToken"
  add column id bigint generated always as identity,
  add column "createdAt" timestamptz not null default now();
alter table "joinToken" add constraint "joinToken_id" unique (id);
create index "joinToken_open" on "joinToken" ("clientID") where "usedAt" is null;
