-- Since when a zone's changes have not come through, whoever is asked to try it again meanwhile.
alter table cname add "failingSince" timestamptz;
update cname set "failingSince" = clock_timestamp() where tries > 0 and "deletedAt" is null;
