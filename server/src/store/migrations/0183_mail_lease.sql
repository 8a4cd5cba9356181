-- Until when a mail is somebody's who sends it: what wakes the mails that wait leaves it alone.
alter table mail add column "leasedUntil" timestamptz;

-- How often in a row a server failed whatever it was given, why, and until when it is left alone; then one mail asks whether it is back.
alter table "mailServer"
  add column failures int not null default 0,
  add column problem text,
  add column "pausedUntil" timestamptz;
