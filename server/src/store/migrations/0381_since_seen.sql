-- Since when a name has been as it is seen is said of what was seen alone: of a domain that nobody has seen yet nothing is.
alter table "cnameSeen" alter column since drop default;
update "cnameSeen" set since = null where "seenAt" is null;
