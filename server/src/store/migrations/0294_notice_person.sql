-- Whom alone an event concerns: a sign-in from a new device is its person's. Null: all people of the root account whose keys fit.
alter table "noticeEvent" add column "accountID" bigint references account on delete cascade;
create index notice_event_account on "noticeEvent" ("accountID") where "accountID" is not null;
