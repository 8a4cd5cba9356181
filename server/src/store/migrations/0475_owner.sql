-- The installation's owner stays who it is, whoever else goes.
alter table account add "isOwner" boolean not null default false;
create unique index account_owner on account ("isOwner") where "isOwner";
update account set "isOwner" = true where id = (
  select id from account where auth = 'client' and "isRoot" and "deletedAt" is null order by id limit 1);
