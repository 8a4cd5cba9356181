-- For the removal of an account.
create index database_backup_clients on "databaseBackup" ("clientID");
create index webhook_accounts on webhook ("accountID");
