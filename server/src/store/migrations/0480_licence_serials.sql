-- What is known of each licence file, whoever holds it now and after what was issued of it is long removed: no row of an operator says it,
-- for that is about the last file alone. One small row for each file that was ever issued or registered here, for good: a file itself has no
-- end that would make it safe to forget.
create table "licenseSerial" (
  serial text primary key,
  -- older revisions count no more: a newer one was made, or these were taken back
  "leastRevision" bigint not null default 1,
  -- a file keeps its own; null before it is known
  "portType" text check ("portType" in ('7', '7+4'))
);
insert into "licenseSerial" (serial, "leastRevision", "portType")
select serial, max(least), min("portType") from (
  select serial, revision + case when "deletedAt" is null then 0 else 1 end as least, "portType" from "offlineLicense"
  union all
  select serial, revision + case when "isGone" then 1 else 0 end, "portType" from "licenseOrder" where serial is not null
) known group by serial;

-- One file is one operator's, and none that was taken back: what came otherwise than by these rules holds nothing.
update "licenseOrder" o set "isGone" = true, "rowVersion" = "rowVersion" + 1, "updatedAt" = now()
where serial is not null and not "isGone" and (
  exists (select from "licenseOrder" other where other.serial = o.serial and not other."isGone" and other.id < o.id)
  or exists (select from "offlineLicense" f where f.serial = o.serial and f."deletedAt" is not null));
create unique index license_order_serial on "licenseOrder" (serial) where serial is not null and not "isGone";
