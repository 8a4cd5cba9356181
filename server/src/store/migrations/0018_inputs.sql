-- What lists are filtered by before there is anything to set: no domain has a CNAME that was seen, a certificate or forced HTTPS yet.
alter table domain
  add column "cnameStatus" text not null default 'unset' check ("cnameStatus" in ('unset', 'wrong', 'active')),
  add column "certStatus" text not null default 'unset',
  add column "forceSSL" boolean not null default false;

-- How a product is sold; it opens layer 7 alone until there are ports.
alter table product
  add column "sellType" text not null default 'plan' check ("sellType" in ('plan', 'usage')),
  add column "trafficPrice" double precision not null default 0 check ("trafficPrice" >= 0),
  add column "portType" text not null default '7' check ("portType" in ('7', '7+4'));

-- A line is everybody's, or of one group: then it holds for visitors of these networks. Everybody's have ids of their own.
create sequence line_id start 1000001;
alter table line
  alter column id set default nextval('line_id'),
  add column "groupID" bigint references "group",
  add column cidrs text[] not null default '{}',
  add column asns bigint[] not null default '{}';
create unique index line_name on line ("groupID", lower(name)) where "groupID" is not null;
