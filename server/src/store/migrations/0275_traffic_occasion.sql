-- A share of what may be used that is reached again, after there was more of it, is told again: the number of the occasion.
alter table "trafficMonth" add column occasion int not null default 0;
