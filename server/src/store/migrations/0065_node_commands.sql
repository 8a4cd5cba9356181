-- What nodes are told to do, by a task: sent by whoever has the bus, again until the node says what became of it, or its time is over.
create table "nodeCommand" (
  id bigint generated always as identity primary key,
  "nodeID" bigint not null references node,
  "taskID" bigint not null references task on delete cascade,
  verb text not null,
  -- numbers it was sent by; an answer names one
  counts bigint[] not null default '{}',
  "sentAt" timestamptz,
  "expiresAt" timestamptz not null,
  "endedAt" timestamptz,
  -- null: nobody said anything in time
  ok boolean,
  why text,
  -- since when the node's agent ran when it was asked: one that was restarted says another time
  "startedAt" timestamptz,
  -- the task's log says what became of it
  "isTold" boolean not null default false,
  "createdAt" timestamptz not null default now()
);
create index node_command_node on "nodeCommand" ("nodeID");
create index node_command_task on "nodeCommand" ("taskID", id);
create index node_command_open on "nodeCommand" (id) where "endedAt" is null;
