-- What an operator ("clientID") or the installation (null) has set; a key that has no row has its default.
create table setting (
  "clientID" bigint references account,
  key text not null,
  value jsonb not null,
  -- rises with each change, so that two people who edit at once can be told
  version int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now()
);
create unique index setting_key on setting (coalesce("clientID", 0), key);
