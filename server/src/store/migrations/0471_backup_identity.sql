-- Which archive a backup made, so that a restore test of another one does not pass for it. Null: of an earlier release.
alter table "backupRun" add column sha256 text;
-- of the moment whose state it holds
alter table "backupRun" add column "archiveTime" timestamptz;
