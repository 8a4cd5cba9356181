-- What the zone above was told of keys that a signed zone has no longer: until that is replaced, whoever validates believes none of its answers.
alter table cname add column "dsBefore" text[] not null default '{}';
