-- Past a day's room, lines of one kind are one line that says how many there were: the first at "createdAt", the last at "lastAt".
alter table audit add column times bigint, add column "lastAt" timestamptz;
