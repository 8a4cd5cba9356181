-- What a setting (contract/src/kit/setting.ts) is at one level: of an operator, a zone, a site or a domain, exactly one of them.
-- One table for all, with the value as JSON: a value is read whole and judged by its schema, never searched, and a further setting
-- needs no migration. A row that is missing means: whatever is above.
create table "scopedSetting" (
  id bigint generated always as identity primary key,
  name text not null,
  "clientID" bigint references account on delete cascade,
  "zoneID" bigint references zone on delete cascade,
  "siteID" bigint references site on delete cascade,
  "domainID" bigint references domain on delete cascade,
  value jsonb not null,
  version int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  check (num_nonnulls("clientID", "zoneID", "siteID", "domainID") = 1)
);
create unique index "scopedSetting_client" on "scopedSetting" ("clientID", name) where "clientID" is not null;
create unique index "scopedSetting_zone" on "scopedSetting" ("zoneID", name) where "zoneID" is not null;
create unique index "scopedSetting_site" on "scopedSetting" ("siteID", name) where "siteID" is not null;
create unique index "scopedSetting_domain" on "scopedSetting" ("domainID", name) where "domainID" is not null;
