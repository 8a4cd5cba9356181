-- Where a customer's names are held, and what lets us put a record there.
create table "siteDNS" (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  provider text not null,
  server text not null default '',
  "keyName" text not null default '',
  algorithm text not null default 'hmacSHA256',
  credentials text,
  memo text not null default '',
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index site_dns_site on "siteDNS" ("siteID");
create index site_dns_deleted on "siteDNS" ("deletedAt") where "deletedAt" is not null;

-- Records that prove a name to an authority: noted before they are put anywhere, until they are gone from there.
create table "acmeRecord" (
  id bigint generated always as identity primary key,
  "domainID" bigint not null references domain on delete cascade,
  name text not null,
  value text not null,
  -- where it is put: null and '' until that is known
  "dnsID" bigint references "siteDNS" on delete cascade,
  zone text not null default '',
  "zoneID" text not null default '',
  -- where the name leads
  target text not null default '',
  -- when it is taken away by whoever looks, and how often that was tried
  "removeAt" timestamptz not null default now() + interval '1 hour',
  attempts int not null default 0,
  "createdAt" timestamptz not null default now()
);
create unique index acme_record_is on "acmeRecord" ("domainID", value);
create index acme_record_due on "acmeRecord" ("removeAt");
create index acme_record_dns on "acmeRecord" ("dnsID") where "dnsID" is not null;

-- How the name is proven to the authority.
alter table "autoCertificate" add column way text not null default 'http';
