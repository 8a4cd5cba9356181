-- What an event is about, so that a sub-account is told of nothing that it may not see: zones are assigned to an operator's, sites to a
-- customer's. Not references: an event outlives both.
alter table "noticeEvent" add column "nodeID" bigint, add column "siteID" bigint;

create or replace function notice_of_node() returns trigger language plpgsql as $$
begin
  if new.status = 'offline' then
    insert into "noticeEvent" ("rootID", kind, name, "nodeID") values (new."clientID", 'nodeOffline', new.name, new.id);
  elsif old.status = 'offline' and new.status in ('normal', 'reconnect', 'error') then
    insert into "noticeEvent" ("rootID", kind, name, "nodeID") values (new."clientID", 'nodeBack', new.name, new.id);
  end if;
  return null;
end $$;

create or replace function notice_of_certificate() returns trigger language plpgsql as $$
begin
  -- it is tried again and again: once a day is enough
  insert into "noticeEvent" ("rootID", kind, once, name, detail, "siteID")
    select who.id, 'certificateFailed', d.id || ' ' || current_date, d."domainName", new.error, s.id
    from domain d join site s on s.id = d."siteID" cross join lateral (values (s."clientID"), (s."userID")) who(id)
    where d.id = new."domainID" and d."deletedAt" is null and s."deletedAt" is null
    on conflict do nothing;
  return null;
end $$;
