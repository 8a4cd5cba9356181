-- What operators that were removed left behind: hostnames nobody else could have, and images that were served on.
update brand b set "deletedAt" = now(), "updatedAt" = now()
  from account a where a.id = b."clientID" and a."deletedAt" is not null and b."deletedAt" is null;
delete from "brandImage" i using account a where a.id = i."clientID" and a."deletedAt" is not null;

-- IPv6 addresses stand in brackets, as a browser sends them; of two spellings of one the earlier is taken.
with six as materialized (
  select id, '[' || host(hostname::inet) || ']' as form from brand
    where "deletedAt" is null and hostname ~ '^[0-9a-f:.]+$' and hostname like '%:%'
)
update brand b set hostname = s.form
  from (select distinct on (form) id, form from six order by form, id) s where s.id = b.id;
