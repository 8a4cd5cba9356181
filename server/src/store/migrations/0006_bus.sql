-- Nodes live in accounts of their own, follow documents by numbers of their zone, and fetch what they missed from us.

-- A node's rights stand in its account, which is brought to what the row says; nothing is revoked any more.
drop trigger node_revoke on node;
drop function node_revoke();
drop table revocation;

-- What stands on each subject, now with its text: a node that missed something is answered from here, whatever the bus lost.
alter table published add column n bigint not null default 0, add column body text not null default '',
  add column "publishedAt" timestamptz not null default now();
create index published_number on published ("zoneID", n);

-- The last number given in each zone; rises for ever. What was removed up to "forgotten" is not known any more.
create table "zoneHead" (
  "zoneID" bigint primary key,
  n bigint not null,
  forgotten bigint not null default 0
);
-- Everything is published once more, with numbers and texts: the stream's former life ends with this row.
delete from "busStream";
delete from published;
update publication set seq = 9223372036854775807;

-- "appliedSeq" counts in the numbers of the node's zone from here on.
update node set "appliedSeq" = 0, "appliedEpoch" = '';
create function node_moved() returns trigger language plpgsql as $$
begin
  new."appliedSeq" := 0;
  new."appliedEpoch" := '';
  return new;
end $$;
create trigger node_moved before update of "zoneID" on node for each row
  when (old."zoneID" is distinct from new."zoneID") execute function node_moved();

-- Until when a node is cut off the bus because it flooded it, and what we have against it, for people.
alter table node add column "cutUntil" timestamptz, add column "busProblem" text, add column floods int not null default 0;

-- A node's account on the bus must follow.
create function node_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('node_account', new.id::text);
  return null;
end $$;
create trigger node_account_made after insert on node for each row when (new."publicKey" is not null)
  execute function node_account();
create trigger node_account_changed after update of "zoneID", "deletedAt", "cutUntil", "publicKey" on node for each row
  when (old."zoneID" is distinct from new."zoneID" or old."deletedAt" is distinct from new."deletedAt"
    or old."cutUntil" is distinct from new."cutUntil" or old."publicKey" is distinct from new."publicKey")
  execute function node_account();
