-- What a message under way tells stands apart from what happens meanwhile, until it has arrived or is to be told again.
alter table "telegramNotice" add column "isTaken" boolean not null default false;
drop index telegram_notice_kind;
create unique index telegram_notice_kind on "telegramNotice" ("telegramID", kind) where not "isTaken";
create index telegram_notice_telegram on "telegramNotice" ("telegramID");
