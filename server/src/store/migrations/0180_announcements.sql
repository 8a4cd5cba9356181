-- What an operator tells its customers.
create table announcement (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  title text not null,
  content text not null,
  start timestamptz,
  "end" timestamptz,
  "orderNum" int not null default 0,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index announcement_client on announcement ("clientID");
create index announcement_deleted on announcement ("deletedAt") where "deletedAt" is not null;
