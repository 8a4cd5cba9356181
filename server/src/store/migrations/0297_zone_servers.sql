-- Who serves the zone that a domain lies in, as it was seen when it was looked where the domain leads: so its customer is told what to do there.
alter table "cnameSeen" add column "nameServers" text[] not null default '{}';
