-- When the installation is backed up by itself, and where to: one row, of its owner.
create table "databaseBackup" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  enabled boolean not null default false,
  every text not null default 'day' check (every in ('hour', 'day', 'week')),
  hour int not null default 3,
  -- ISO 8601: 1 is Monday
  weekday int not null default 7,
  timezone text not null default 'UTC',
  target text not null default 'folder' check (target in ('folder', 's3')),
  -- '': backups/ in the data folder
  folder text not null default '',
  endpoint text not null default '',
  region text not null default '',
  bucket text not null default '',
  prefix text not null default '',
  "accessKeyID" text not null default '',
  -- sealed
  "secretKey" text,
  -- sealed
  passphrase text,
  logs boolean not null default false,
  keep int not null default 14,
  "restoreTest" boolean not null default true,
  -- null: by hand alone
  "nextAt" timestamptz,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index database_backup_client on "databaseBackup" ("clientID") where "deletedAt" is null;
create index database_backup_deleted on "databaseBackup" ("deletedAt") where "deletedAt" is not null;

-- Backups and restore tests, asked for and made. Whoever makes one says every few seconds that it is still there.
create table "backupRun" (
  id bigint generated always as identity primary key,
  "backupID" bigint not null references "databaseBackup",
  kind text not null check (kind in ('backup', 'restoreTest')),
  state text not null default 'asked' check (state in ('asked', 'running', 'done', 'failed')),
  -- null: the clock
  "askedBy" text,
  -- the archive that was made, or restored
  file text,
  bytes bigint,
  "rowCount" bigint,
  "tableCount" int,
  problem text,
  "createdAt" timestamptz not null default now(),
  "startedAt" timestamptz,
  "endedAt" timestamptz,
  "beatAt" timestamptz
);
create index backup_run_backup on "backupRun" ("backupID", id);
-- One at a time, however many processes look.
create unique index backup_run_open on "backupRun" ("backupID") where state in ('asked', 'running');
