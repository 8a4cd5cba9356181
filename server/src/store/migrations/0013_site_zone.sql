-- A site that is made while its product moves, or whose product joins a group that moves, saw the old zone while the move did not see
-- the site. Now each waits for the other: a site holds its product and the group, a product its groups, always in this order. In
-- steps of their own, since a statement goes on seeing what it saw when it began.
create or replace function site_zone() returns trigger language plpgsql as $$
declare
  ids bigint[];
begin
  if tg_table_name = 'site' then
    perform 1 from product where id = new."productID" for share;
    perform 1 from "group" g where g.id = (select "groupID" from product where id = new."productID") for share;
    ids := array[new.id];
  elsif tg_table_name = 'product' then
    perform 1 from "group" where id = new."groupID" for share;
    ids := (select array_agg(s.id) from site s where s."productID" = new.id and s."deletedAt" is null);
  else
    ids := (select array_agg(s.id) from site s join product p on p.id = s."productID" where p."groupID" = new.id and s."deletedAt" is null);
  end if;
  perform site_zone_settle(ids);
  return null;
end $$;

-- What stands elsewhere than it should, whatever the reason; ingest looks for it when it begins.
create function site_zone_settle_all() returns void language sql as $$
  select site_zone_settle(array_agg(s.id))
    from site s join product p on p.id = s."productID" join "group" g on g.id = p."groupID"
      left join "siteZone" z on z."siteID" = s.id and z."to" is null
    where case when s."deletedAt" is null then z."zoneID" is distinct from g."zoneID" else z."siteID" is not null end;
$$;
select site_zone_settle_all();
