-- Certificates of a site, and which of them a domain shows.
create table certificate (
  id bigint generated always as identity primary key,
  "siteID" bigint not null references site,
  "sslName" text not null,
  type text not null default 'manual',
  provider text not null default '',
  names text[] not null,
  issuer text not null,
  serial text not null,
  fingerprint text not null,
  "keyType" text not null,
  "keyBits" int not null,
  "notBefore" timestamptz not null,
  "notAfter" timestamptz not null,
  "isWhole" boolean not null,
  leaf text not null,
  issuers jsonb not null,
  "privateKey" text,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index certificate_site on certificate ("siteID");
create index certificate_deleted on certificate ("deletedAt") where "deletedAt" is not null;

alter table domain add column "certificateID" bigint references certificate;
create index domain_certificate on domain ("certificateID") where "certificateID" is not null;
