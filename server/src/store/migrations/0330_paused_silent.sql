-- A paused node stays paused whatever becomes of it. That it says nothing any more stands beside that: since its last word; null: it is heard,
-- or is not paused.
alter table node add column "silentSince" timestamptz;

-- One that was silent when it was paused is silent on; whoever is resumed has its status for that.
create function node_paused() returns trigger language plpgsql as $$
begin
  new."silentSince" := case when new.status = 'paused' and old.status in ('offline', 'reconnect', 'natsError')
    then coalesce(new."lastBeat", clock_timestamp()) end;
  return new;
end $$;
create trigger node_paused before update of status on node for each row
  when (old.status is distinct from new.status) execute function node_paused();

-- Told like one that goes offline and comes back.
create function notice_of_paused() returns trigger language plpgsql as $$
begin
  perform notice_event(new."clientID", case when new."silentSince" is null then 'nodeBack' else 'nodeOffline' end, null, new.name, '');
  return null;
end $$;
create trigger notice_of_paused after update of "silentSince" on node for each row
  when (old.status = 'paused' and new.status = 'paused' and (old."silentSince" is null) <> (new."silentSince" is null) and new."deletedAt" is null)
  execute function notice_of_paused();
-- What it is answered for may be another's now.
create trigger resolution_node_silent after update of "silentSince" on node for each row
  when (old."silentSince" is distinct from new."silentSince") execute function resolution_lines();
