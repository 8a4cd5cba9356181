-- What the zone above says of a zone's keys (DS), as it was seen last and when; and a key that is to take the place of the one before: since
-- when it is asked for, and from when on it does, once the zone above was seen to have its DS.
alter table cname add column "dsAbove" text[] not null default '{}';
alter table cname add column "aboveAt" timestamptz;
alter table cname add column "newKeyAt" timestamptz;
alter table cname add column "newKeyFrom" timestamptz;
