-- How often its owner went back to the included data: a fetch that was on its way then brings nothing back.
alter table "geoSource" add column drops int not null default 0;
