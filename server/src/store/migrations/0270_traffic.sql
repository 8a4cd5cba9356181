-- What a product holds of traffic, what its customers used of it by months, and what they have beside it.
alter table product
  -- bytes of a customer in a month, of all its sites of this product together; 0: unlimited
  add column "trafficLimit" bigint not null default 0 check ("trafficLimit" >= 0),
  add column "trafficAction" text not null default 'none' check ("trafficAction" in ('none', 'limit', 'notify'));

create table "extraTrafficPlan" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "userID" bigint not null references account,
  "productID" bigint not null references product,
  bytes bigint not null check (bytes > 0),
  "startTime" timestamptz not null,
  "endTime" timestamptz not null,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index extra_traffic_plan_client on "extraTrafficPlan" ("clientID");
create index extra_traffic_plan_user on "extraTrafficPlan" ("userID");
create index extra_traffic_plan_product on "extraTrafficPlan" ("productID");
create index extra_traffic_plan_deleted on "extraTrafficPlan" ("deletedAt") where "deletedAt" is not null;
create index extra_traffic_plan_start on "extraTrafficPlan" ("startTime") where "deletedAt" is null;
create index extra_traffic_plan_end on "extraTrafficPlan" ("endTime") where "deletedAt" is null;

-- What a customer used of a product in a month of its operator. The product's side as it was while the month lasted.
create table "trafficMonth" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "userID" bigint not null references account,
  "productID" bigint not null references product,
  year int not null,
  month int not null,
  "startTime" timestamptz not null,
  "endTime" timestamptz not null,
  -- of its days, the first one first
  days bigint[] not null default '{}',
  bytes bigint not null default 0,
  "baseBytes" bigint not null default 0,
  "extraBytes" bigint not null default 0,
  action text not null,
  "sellType" text not null,
  "trafficPrice" double precision not null,
  state text not null default 'normal' check (state in ('normal', 'warning', 'limited')),
  -- when people were told
  "warnedAt" timestamptz,
  "usedUpAt" timestamptz
);
create unique index traffic_month_one on "trafficMonth" ("userID", "productID", year, month);
create index traffic_month_client on "trafficMonth" ("clientID", year, month);
create index traffic_month_product on "trafficMonth" ("productID");
create index traffic_month_end on "trafficMonth" ("endTime");

-- What was taken of a plan, by months.
create table "trafficDraw" (
  "planID" bigint not null references "extraTrafficPlan",
  year int not null,
  month int not null,
  bytes bigint not null,
  primary key ("planID", year, month)
);

-- Up to when an operator's lines are counted.
create table "trafficCount" (
  "clientID" bigint primary key references account,
  "countedAt" timestamptz not null
);

-- Which product a site was sold as, since when: what it used before it changed is the former product's.
create table "siteProduct" (
  "siteID" bigint not null references site,
  "productID" bigint not null references product,
  since timestamptz not null,
  primary key ("siteID", since)
);
create index site_product_product on "siteProduct" ("productID");
create index site_product_since on "siteProduct" (since);
insert into "siteProduct" select id, "productID", "createdAt" from site;

create function site_product() returns trigger language plpgsql as $$
begin
  insert into "siteProduct" values (new.id, new."productID", clock_timestamp())
    on conflict ("siteID", since) do update set "productID" = excluded."productID";
  return null;
end $$;
create trigger site_product_made after insert on site for each row execute function site_product();
create trigger site_product_changed after update of "productID" on site for each row
  when (old."productID" is distinct from new."productID") execute function site_product();

-- What an event is about, so that a sub-account is told of nothing it may not see. Not a reference: an event outlives it.
alter table "noticeEvent" add column "productID" bigint;
