-- One row that is written now and then: whether changes can be saved at all is a question of its own on a full disk.
create table "healthProbe" (id boolean primary key default true check (id), at timestamptz not null default clock_timestamp());
insert into "healthProbe" default values;
