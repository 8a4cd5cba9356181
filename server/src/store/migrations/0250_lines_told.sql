-- What the name server of a zone goes by, as it was told last: the data that its lines by place are for ('': these count nowhere), and groups
-- that are answered without them.
alter table cname
  add column "lineData" text not null default '',
  add column "placelessGroups" bigint[] not null default '{}';
