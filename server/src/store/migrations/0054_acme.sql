-- Certificates that an authority issues for a domain (ACME), renewed by themselves.
alter table domain add column "autoSSL" boolean not null default false;

-- Who we are at an authority: one key for each operator, directory and customer number there.
create table "acmeAccount" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  directory text not null,
  "eabKID" text not null default '',
  url text not null default '',
  "privateKey" text not null,
  -- it said how long it wants to be left alone
  "notBefore" timestamptz,
  "createdAt" timestamptz not null default now()
);
create unique index acme_account_is on "acmeAccount" ("clientID", directory, "eabKID");

-- What an operator was given by ZeroSSL.
create table "zeroSSL" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  "eabKID" text not null default '',
  "eabHmacKey" text,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index zero_ssl_client on "zeroSSL" ("clientID");
create index zero_ssl_deleted on "zeroSSL" ("deletedAt") where "deletedAt" is not null;

-- How far the certificate of a domain is that asked for one.
create table "autoCertificate" (
  id bigint generated always as identity primary key,
  "domainID" bigint not null references domain on delete cascade,
  provider text not null,
  state text not null default 'pending',
  -- tries in a row that ended without one
  attempts int not null default 0,
  -- what was said the last time there was none
  error text not null default '',
  -- when it is tried, or renewed; null: at once
  "nextAt" timestamptz,
  "certificateID" bigint references certificate on delete set null,
  -- who works on it, and until when its order counts among those the authority allows at once
  "taskID" bigint references task on delete set null,
  "accountID" bigint references "acmeAccount" on delete set null,
  "orderUntil" timestamptz,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index auto_certificate_domain on "autoCertificate" ("domainID") where "deletedAt" is null;
create index auto_certificate_domain_all on "autoCertificate" ("domainID");
create index auto_certificate_due on "autoCertificate" (coalesce("nextAt", '-infinity')) where "deletedAt" is null;
create index auto_certificate_certificate on "autoCertificate" ("certificateID") where "certificateID" is not null;
create index auto_certificate_deleted on "autoCertificate" ("deletedAt") where "deletedAt" is not null;
create index auto_certificate_task on "autoCertificate" ("taskID") where "taskID" is not null;
create index auto_certificate_account on "autoCertificate" ("accountID") where "accountID" is not null;

-- The key of a certificate that is ordered.
create table "acmeOrder" (
  id bigint generated always as identity primary key,
  "domainID" bigint not null unique references domain on delete cascade,
  "privateKey" text not null,
  "createdAt" timestamptz not null default now()
);

-- What an authority is answered at /.well-known/acme-challenge/.
create table "acmeChallenge" (
  id bigint generated always as identity primary key,
  "domainID" bigint not null references domain on delete cascade,
  token text not null,
  answer text not null,
  "createdAt" timestamptz not null default now()
);
create unique index acme_challenge_token on "acmeChallenge" ("domainID", token);
create index acme_challenge_age on "acmeChallenge" ("createdAt");

-- Domains of one site that may have one made; 0: as many as there are.
alter table product add column "autoSSLLimit" int not null default 0;
