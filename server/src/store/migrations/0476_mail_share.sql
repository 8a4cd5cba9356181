-- Codes that somebody waits for go before what can wait, and are counted apart; no customer takes all the room of its operator's mails.
alter table mail add "isUrgent" boolean not null default false, add "rootID" bigint references account on delete cascade;
create index mail_root on mail ("rootID");
