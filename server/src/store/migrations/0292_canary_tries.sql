-- One node's word stops no change: another one is asked before it is stopped, and the next time those that failed go last.
alter table "zoneCanary" add column tries int not null default 0,
  -- in the order in which they failed
  add column "failedIDs" bigint[] not null default '{}';
