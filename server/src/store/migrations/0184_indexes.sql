-- For the removal of an account, and of what was deleted long ago.
create index telegram_accounts on telegram ("accountID");
create index mail_server_deleted on "mailServer" ("deletedAt") where "deletedAt" is not null;
