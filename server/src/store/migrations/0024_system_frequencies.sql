-- Frequencies of an operator: in the documents of its zones.
create table "systemFrequency" (
  id bigint primary key default nextval('"limitRule"'),
  "clientID" bigint not null references account,
  "urlRegex" text not null,
  seconds int not null,
  times int not null,
  type text not null,
  action text not null default 'limit',
  priority int not null default 100,
  colour text not null default 'grey',
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "systemFrequency_client" on "systemFrequency" ("clientID");
create index "systemFrequency_deleted" on "systemFrequency" ("deletedAt") where "deletedAt" is not null;
