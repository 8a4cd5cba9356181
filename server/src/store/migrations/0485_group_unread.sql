-- Groups whose nodes cannot be looked at: what they answer stays as it is, so somebody is to hear of it. A table of its own, for one may have
-- no answer yet.
create table "groupUnread" (
  "groupID" bigint primary key references "group" (id) on delete cascade,
  detail text not null,
  since timestamptz not null default clock_timestamp()
);
