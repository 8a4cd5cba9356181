-- How often a person changed a row: whoever changes it may say which state was seen (decisions.md, Wire). A node's `version` is its agent's.
do $$
declare name text;
begin
  foreach name in array array['account', 'role', 'zone', 'node', 'group', 'product', 'site', 'domain', 'upstream', 'cacheRule', 'purgeTask',
    'blacklist', 'whitelist', 'userAgent', 'module', 'redirect', 'frequency', 'limitReq', 'systemFrequency', 'errorPage', 'systemErrorPage',
    'rate']
  loop
    execute format('alter table %I add column "rowVersion" int not null default 1', name);
  end loop;
end $$;

-- The rows a line changed, as `table:id`: the history of one row. Lines from before have none.
alter table audit add column touched text[];
create index audit_touched on audit using gin (touched) where touched is not null;
