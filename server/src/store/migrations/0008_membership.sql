-- Where a node stood, and where a site was served, and when. A line of a node's log counts for a site only if that node could have served
-- it then (server/src/ingest/members.ts), so what was must be known also after it has changed. No reference holds these rows to theirs:
-- they outlive them.
create table "nodeZone" (
  "nodeID" bigint not null,
  "zoneID" bigint not null,
  "from" timestamptz not null,
  -- null: still
  "to" timestamptz,
  "changedAt" timestamptz not null default clock_timestamp()
);
create unique index "nodeZone_open" on "nodeZone" ("nodeID") where "to" is null;
create index "nodeZone_node" on "nodeZone" ("nodeID");
create index "nodeZone_changed" on "nodeZone" ("changedAt");

create table "siteZone" (
  "siteID" bigint not null,
  "zoneID" bigint not null,
  "from" timestamptz not null,
  "to" timestamptz,
  "changedAt" timestamptz not null default clock_timestamp()
);
create unique index "siteZone_open" on "siteZone" ("siteID") where "to" is null;
create index "siteZone_site" on "siteZone" ("siteID");
create index "siteZone_changed" on "siteZone" ("changedAt");
create index domain_created on domain ("createdAt");

create function node_zone() returns trigger language plpgsql as $$
declare
  stands bigint := case when new."deletedAt" is null then new."zoneID" end;
  moment timestamptz := clock_timestamp();
begin
  update "nodeZone" set "to" = moment, "changedAt" = moment
    where "nodeID" = new.id and "to" is null and "zoneID" is distinct from stands;
  if stands is not null then
    insert into "nodeZone" ("nodeID", "zoneID", "from") values (new.id, stands, moment)
      on conflict ("nodeID") where "to" is null do nothing;
  end if;
  return null;
end $$;
create trigger node_zone after insert or update of "zoneID", "deletedAt" on node for each row execute function node_zone();

-- Brings the open interval of these sites to where their product's group stands now.
create function site_zone_settle(ids bigint[]) returns void language sql as $$
  update "siteZone" z set "to" = clock_timestamp(), "changedAt" = clock_timestamp()
    from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
    where z."siteID" = s.id and s.id = any(ids) and z."to" is null and (s."deletedAt" is not null or z."zoneID" <> g."zoneID");
  insert into "siteZone" ("siteID", "zoneID", "from")
    select s.id, g."zoneID", clock_timestamp() from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
    where s.id = any(ids) and s."deletedAt" is null
    on conflict ("siteID") where "to" is null do nothing;
$$;
create function site_zone() returns trigger language plpgsql as $$
begin
  perform site_zone_settle(case tg_table_name
    when 'site' then array[new.id]
    when 'product' then (select array_agg(s.id) from site s where s."productID" = new.id and s."deletedAt" is null)
    else (select array_agg(s.id) from site s join product p on p.id = s."productID" where p."groupID" = new.id and s."deletedAt" is null)
  end);
  return null;
end $$;
create trigger site_zone after insert or update of "productID", "deletedAt" on site for each row execute function site_zone();
create trigger product_zone after update of "groupID" on product for each row when (old."groupID" <> new."groupID") execute function site_zone();
create trigger group_zone after update of "zoneID" on "group" for each row when (old."zoneID" <> new."zoneID") execute function site_zone();

-- What was before this table is not known: each stands where it stands now since it was made.
insert into "nodeZone" ("nodeID", "zoneID", "from", "to")
  select id, "zoneID", "createdAt", "deletedAt" from node where "zoneID" is not null;
insert into "siteZone" ("siteID", "zoneID", "from", "to")
  select s.id, g."zoneID", s."createdAt", s."deletedAt" from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID";
