-- Whether it was told that a node is offline. It may go through other states before it is well again, and is told to be back from any of
-- them; and nobody is told that one is back of whom nobody heard that it was gone.
alter table node add column "isToldOffline" boolean not null default false;
update node set "isToldOffline" = status = 'offline' or (status = 'paused' and "silentSince" is not null) where "deletedAt" is null;

-- After node_paused, by its name: what that says of a paused one is read here.
create function node_told() returns trigger language plpgsql as $$
begin
  if new.status = 'offline' then
    new."isToldOffline" := true;
  elsif new.status in ('normal', 'reconnect', 'error') then
    new."isToldOffline" := false;
  elsif new.status = 'paused' and old.status = 'paused' and (old."silentSince" is null) <> (new."silentSince" is null) then
    new."isToldOffline" := new."silentSince" is not null;
  end if;
  return new;
end $$;
create trigger node_told before update of status, "silentSince" on node for each row execute function node_told();

-- With the node, so that sub-accounts that see its zone are told as well, of a paused one too.
create or replace function notice_of_node() returns trigger language plpgsql as $$
begin
  insert into "noticeEvent" ("rootID", kind, name, "nodeID")
    values (new."clientID", case when new."isToldOffline" then 'nodeOffline' else 'nodeBack' end, new.name, new.id);
  return null;
end $$;
drop trigger notice_of_paused on node;
drop function notice_of_paused();
drop trigger notice_of_node on node;
create trigger notice_of_node after update of status, "silentSince" on node for each row
  when (old."isToldOffline" <> new."isToldOffline" and new."deletedAt" is null) execute function notice_of_node();
