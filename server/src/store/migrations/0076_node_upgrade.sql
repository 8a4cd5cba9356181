-- What a command says beside its number.
alter table "nodeCommand" add column body jsonb not null default '{}';

-- A node becomes another version: how far it is, by its own words, and what came of it.
create table "nodeUpgrade" (
  id bigint generated always as identity primary key,
  "nodeID" bigint not null references node,
  "taskID" bigint references task on delete set null,
  "commandID" bigint references "nodeCommand" on delete set null,
  "fromVersion" text not null,
  "toVersion" text not null,
  -- as states.ts names them: updating, updateFailed, updateComplete
  state text not null default 'updating',
  -- [{step, at}], the node's own
  steps jsonb not null default '[]',
  why text,
  "endedAt" timestamptz,
  "createdAt" timestamptz not null default now()
);
create index node_upgrade_node on "nodeUpgrade" ("nodeID", id);
create index node_upgrade_command on "nodeUpgrade" ("commandID");
create index node_upgrade_task on "nodeUpgrade" ("taskID");
