-- Entries that end by themselves. The index holds what has an end alone: it is asked every second.
alter table blacklist add column "expiredAt" timestamptz;
alter table whitelist add column "expiredAt" timestamptz;
create index blacklist_expires on blacklist ("expiredAt") where "expiredAt" is not null and "deletedAt" is null;
create index whitelist_expires on whitelist ("expiredAt") where "expiredAt" is not null and "deletedAt" is null;
