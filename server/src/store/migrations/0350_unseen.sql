-- When it was last seen where a domain leads, apart from when that was last tried ("checkedAt"), and why a try found nothing out ('': it did).
alter table "cnameSeen" add column "seenAt" timestamptz;
alter table "cnameSeen" add column unseen text not null default '';
update "cnameSeen" set "seenAt" = "checkedAt" where not "isUnknown";
