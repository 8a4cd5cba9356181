-- Since when a node has been well, of one that is: one that was well before it came to a line is not kept waiting there
-- (server/src/resolution/steadiness.ts). Its states are choose.ts's.
alter table node add column "wellAt" timestamptz not null default clock_timestamp();
create function node_well() returns trigger language plpgsql as $$ begin new."wellAt" := clock_timestamp(); return new; end $$;
create trigger node_well before update of status on node for each row
  when (new.status in ('normal', 'reconnect') and old.status not in ('normal', 'reconnect')) execute function node_well();
