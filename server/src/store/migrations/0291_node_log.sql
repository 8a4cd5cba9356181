-- nginx's level debug writes visitors' credentials down, and is offered no more. The zones of who had it are told.
with mended as (
  update setting set value = jsonb_set(value, '{level}', '"info"') where key = 'nodeLog' and value->>'level' = 'debug' returning "clientID"
), changed as (
  update zone z set revision = nextval('revision') from mended m where z."clientID" = m."clientID" and z."deletedAt" is null returning z.id, z.revision
) insert into outbox (kind, "entityID", "zoneID", revision) select 'zone', id, id, revision from changed;
