-- Work that takes longer than a call: the row is the truth, a job of graphile-worker merely says that it is somebody's turn.
create table task (
  id bigint generated always as identity primary key,
  kind text not null,
  -- whose key is asked of whoever sees it
  resource text not null,
  "rootID" bigint not null references account,
  "siteID" bigint references site,
  -- who started it; null: the system
  "accountID" bigint references account,
  "proxyID" bigint references account,
  input jsonb not null,
  about jsonb not null default '{}',
  -- how far it is, in its own words; written in the transaction of each step
  cursor jsonb,
  state text not null default 'waiting',
  done int not null default 0,
  total int not null default 0,
  failed int not null default 0,
  -- tries in a row that got nowhere
  attempts int not null default 0,
  error jsonb,
  "runAt" timestamptz not null default now(),
  -- who works on it says so every few seconds; null: nobody does
  "beatAt" timestamptz,
  -- rises with each start and each cancellation: whoever has an older one may write nothing
  run int not null default 0,
  "wasLost" boolean not null default false,
  "jobID" bigint,
  -- lines said so far; the newest are kept
  said int not null default 0,
  "startedAt" timestamptz,
  "endedAt" timestamptz,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now()
);
create index task_root on task ("rootID", id);
create index task_site on task ("siteID", id) where "siteID" is not null;
create index task_open on task ("rootID", kind, id) where "endedAt" is null;
create index task_ended on task ("endedAt") where "endedAt" is not null;

create table "taskLine" (
  "taskID" bigint not null references task on delete cascade,
  n int not null,
  at timestamptz not null default clock_timestamp(),
  level text not null,
  code text not null,
  values jsonb not null default '{}',
  error jsonb,
  primary key ("taskID", n)
);
