-- Who asked for a task again: it goes on while that account may do what it works on, too.
alter table task add column "askedID" bigint references account;
create index task_asked on task ("askedID") where "askedID" is not null;
