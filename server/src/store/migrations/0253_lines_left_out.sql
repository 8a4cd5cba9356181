-- Groups none of whose lines count there, for there is no room for them.
alter table cname add column "linelessGroups" bigint[] not null default '{}';
