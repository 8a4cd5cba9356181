-- Of which zone's nodes said so: another zone's say nothing of it. And since when most of them say that it is back.
alter table "originDown" add column "zoneID" bigint references zone on delete cascade, add column "backSince" timestamptz;
update "originDown" x set "zoneID" = g."zoneID" from domain d join site s on s.id = d."siteID" join product p on p.id = s."productID"
  join "group" g on g.id = p."groupID" where d.id = x."domainID";
create index origin_down_zone on "originDown" ("zoneID");
-- What was told as down lately: bounds what nodes can make us tell, whoever holds them.
create table "originTold" (
  id bigint generated always as identity primary key,
  "zoneID" bigint not null references zone on delete cascade,
  -- the customer
  "rootID" bigint not null references account on delete cascade,
  "domainID" bigint not null references domain on delete cascade,
  address text not null,
  port int not null,
  at timestamptz not null default now()
);
create index origin_told_domain on "originTold" ("domainID", address, port);
create index origin_told_zone on "originTold" ("zoneID", at);
create index origin_told_root on "originTold" ("rootID");
create index origin_told_at on "originTold" (at);
