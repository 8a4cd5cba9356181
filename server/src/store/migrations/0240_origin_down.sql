-- Origins that most nodes of their zone find down, as long as they do: what people are told of once, and told again when it is over.
create table "originDown" (
  id bigint generated always as identity primary key,
  "domainID" bigint not null references domain on delete cascade,
  -- as the domain names it
  address text not null,
  port int not null,
  error text not null,
  since timestamptz not null default now(),
  "seenAt" timestamptz not null default now(),
  "toldAt" timestamptz
);
create unique index origin_down_origin on "originDown" ("domainID", address, port);
