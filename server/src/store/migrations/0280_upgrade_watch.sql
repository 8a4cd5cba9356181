-- A node that became another version is watched for a while, and goes back when it is not well.
alter table "nodeUpgrade"
  -- since when it is well, or is not, at every look; one of both while it is watched
  add column "wellSince" timestamptz,
  add column "illSince" timestamptz,
  -- before: whoever was not well for another reason is not taken back for that
  add column "wasWell" boolean not null default true;
