-- What its authority says of a certificate (OCSP, RFC 6960), for handshakes. "ocsp": DER in base64, good until "ocspUntil"; "ocspAskAt": null,
-- its authority offers none.
alter table certificate add column ocsp text;
alter table certificate add column "ocspUntil" timestamptz;
alter table certificate add column "ocspAskAt" timestamptz default now();
alter table certificate add column "ocspTries" int not null default 0;
alter table certificate add column "ocspWhy" text not null default '';
create index certificate_ocsp on certificate ("ocspAskAt") where "ocspAskAt" is not null and "deletedAt" is null;
update certificate set "ocspAskAt" = now() + random() * interval '10 minutes';
