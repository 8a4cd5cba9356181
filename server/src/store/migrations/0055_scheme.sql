-- By which schemes a domain is served, where its origins that follow are asked, and what of TLS it refuses.
alter table domain
  add column scheme text not null default 'any',
  add column "portMap" jsonb not null default '{"enabled":true,"http":null,"https":443}',
  add column "tlsOption" text not null default 'any';
-- Who followed to a port of their own has something there that answers both, or one of them: it is asked as before.
update domain d set "portMap" = '{"enabled":true,"http":null,"https":null}'
where exists (select 1 from upstream u where u."domainID" = d.id and u.protocol = 'follow' and u.port <> 80 and u."deletedAt" is null);
