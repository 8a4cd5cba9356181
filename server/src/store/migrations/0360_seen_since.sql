-- Since when a domain's name has been as it is seen: from the first look at it, or from the look that found it otherwise than before.
-- Of those that were looked at before this was written down nobody knows, until they change.
alter table "cnameSeen" add column since timestamptz;
alter table "cnameSeen" alter column since set default clock_timestamp();
create function cname_since() returns trigger language plpgsql as $$ begin
  update "cnameSeen" set since = clock_timestamp() where "domainID" = new.id;
  return null;
end $$;
create trigger cname_since after update of "cnameStatus" on domain for each row
  when (new."cnameStatus" is distinct from old."cnameStatus") execute function cname_since();
