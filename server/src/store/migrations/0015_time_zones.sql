-- An account's time zone was free text. It is a zone's name now, which PostgreSQL and browsers know alike: whole hours have one of their
-- own (Etc/GMT-8 is eight hours east), everything else that is no name becomes the operator's, or the default.
with offsets as (
  select id, upper(timezone) as said, (regexp_match(timezone, '^(?:UTC|GMT)?([+-])(\d{1,2})(?::?00)?$', 'i'))[1] as sign,
    (regexp_match(timezone, '^(?:UTC|GMT)?([+-])(\d{1,2})(?::?00)?$', 'i'))[2]::int as hours
  from account
)
update account a set timezone = case when hours = 0 then 'UTC' when sign = '+' then 'Etc/GMT-' || hours else 'Etc/GMT+' || hours end
from offsets o where o.id = a.id and hours <= case sign when '+' then 14 else 12 end;

create temporary table "knownZone" on commit drop as
  select distinct lower(name) as name from pg_timezone_names where name !~* '^(posix|right/|localtime|factory)';
update account a set timezone = coalesce(
  (select r.timezone from account r join "knownZone" k on k.name = lower(r.timezone)
   where r.id in (a."rootID", a."parentClient") order by r.id = a."rootID" desc limit 1), 'Asia/Taipei')
where not exists (select from "knownZone" k where k.name = lower(a.timezone));
