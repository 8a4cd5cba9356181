-- When the time of an account is over; null: never.
alter table account add column expired timestamptz;
-- those that the clock will end
create index account_expires on account (expired) where expired is not null and status = 'normal' and "deletedAt" is null;
