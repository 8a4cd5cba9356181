-- What binds visitors to an origin, and whether connections to it are kept.
alter table upstream
  add column hash text not null default 'none',
  add column keepalive boolean not null default true;
