-- Credentials of nodes that are void: what was issued for this key until then. A node's zone stands in its credentials, so moving it
-- ends the old ones; removing it ends them all.
create table revocation (
  "publicKey" text primary key,
  until timestamptz not null
);

create function node_revoke() returns trigger language plpgsql as $$
begin
  insert into revocation ("publicKey", until)
    -- The new credentials of a moved node may be issued within this second, and NATS counts in seconds.
    values (old."publicKey", case when new."deletedAt" is null then now() - interval '1 second' else 'infinity' end)
    on conflict ("publicKey") do update set until = excluded.until;
  perform pg_notify('revocation', '');
  return null;
end $$;
create trigger node_revoke after update of "zoneID", "deletedAt" on node for each row
  when (old."publicKey" is not null and ((old."zoneID" is not null and old."zoneID" is distinct from new."zoneID")
    or (old."deletedAt" is null and new."deletedAt" is not null)))
  execute function node_revoke();
