-- What each process that gives nodes their programs, or tells them to fetch them, has on its machine; said anew every few seconds.
create table "nodeOffer" (
  process uuid primary key,
  machine text not null,
  -- null: nothing was packed there
  version text,
  -- of the list of archives
  hash text,
  "seenAt" timestamptz not null
);
