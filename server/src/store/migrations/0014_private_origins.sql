-- The first release connected to every origin. Since then private addresses are the operator's to allow, so an installation that comes
-- from there is given what its origins need, and no site stops being served. Loopback is not among it: that is the environment's word.
create function pg_temp.as_address(text) returns inet language plpgsql immutable as $$
begin
  return host(btrim($1, '[]')::inet)::inet;
exception when others then
  return null; -- a name: what it stands for is not known here
end $$;

with origin as (
  select distinct z."clientID", pg_temp.as_address(u.address) as address
  from upstream u join domain d on d.id = u."domainID" and d."deletedAt" is null
    join site s on s.id = d."siteID" and s."deletedAt" is null
    join product p on p.id = s."productID" join "group" g on g.id = p."groupID" join zone z on z.id = g."zoneID"
  where u."deletedAt" is null and u.enabled
    and not exists (select from setting o where o."clientID" = z."clientID" and o.key = 'originAllow')
), needed as (
  select o."clientID", o.address, b.block
  from origin o join (values (inet '10.0.0.0/8'), ('172.16.0.0/12'), ('192.168.0.0/16'), ('100.64.0.0/10'), ('fc00::/7')) as b(block)
    on o.address <<= b.block
  -- whoever may ask these gets a machine's own credentials
  where not (o.address <<= any (array[inet '100.100.100.200/32', 'fd00:ec2::/32', 'fd20:ce::254/128']))
), ranges as (
  -- the addresses themselves; where these are too many for the setting the networks they lie in, or else the whole blocks
  select "clientID", range, width, count(*) over (partition by "clientID", width) as count
  from needed cross join lateral (values
    (1, host(address)),
    (2, network(set_masklen(address, case family(address) when 4 then 24 else 64 end))::text),
    (3, block::text)) as r(width, range)
  group by 1, 2, 3
), fit as (
  select "clientID", min(width) as width from ranges where count <= 100 group by 1
), made as (
  insert into setting ("clientID", key, value)
  select "clientID", 'originAllow', jsonb_agg(range order by range) from ranges join fit using ("clientID", width) group by 1
  returning "clientID"
), raised as (
  update zone set revision = nextval('revision') where "deletedAt" is null and "clientID" in (select "clientID" from made)
  returning id, revision
)
insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from raised;
