-- What happened, by whom it concerns: a root account. Written where it happens, by triggers too, so that nothing that changes a row can
-- forget it; told to people by the service `work`.
create table "noticeEvent" (
  id bigint generated always as identity primary key,
  "rootID" bigint not null references account on delete cascade,
  kind text not null,
  -- tells once what is found again and again; null: each is told
  once text,
  -- what it is about
  name text not null default '',
  detail text not null default '',
  "createdAt" timestamptz not null default now(),
  "sentAt" timestamptz
);
create unique index notice_event_once on "noticeEvent" ("rootID", kind, once) where once is not null;
create index notice_event_open on "noticeEvent" (id) where "sentAt" is null;
create index notice_event_root on "noticeEvent" ("rootID");
create index notice_event_created on "noticeEvent" ("createdAt");

-- What a person is told. Many of a kind in a short time are one, that counts them.
create table notice (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account on delete cascade,
  kind text not null,
  count int not null default 1,
  -- of the first few
  names jsonb not null default '[]',
  detail text not null default '',
  "isShown" boolean not null,
  -- a mail shall tell of it
  "mailDue" boolean not null,
  "readAt" timestamptz,
  "createdAt" timestamptz not null default now(),
  "latestAt" timestamptz not null default now()
);
create index notice_account on notice ("accountID", id);
create index notice_unread on notice ("accountID") where "readAt" is null and "isShown";
create index notice_mail on notice ("accountID") where "mailDue";
create index notice_created on notice ("createdAt");

-- What a person wants to be told, and how; whoever said nothing has no row.
create table "noticePerson" (
  id bigint generated always as identity primary key,
  "accountID" bigint not null references account on delete cascade,
  choices jsonb not null default '{}',
  "mailedAt" timestamptz
);
create unique index notice_person_account on "noticePerson" ("accountID");

create function notice_event(root bigint, kind text, once text, name text, detail text) returns void language sql as $$
  insert into "noticeEvent" ("rootID", kind, once, name, detail) values (root, kind, once, name, detail) on conflict do nothing
$$;

create function notice_of_node() returns trigger language plpgsql as $$
begin
  if new.status = 'offline' then
    perform notice_event(new."clientID", 'nodeOffline', null, new.name, '');
  elsif old.status = 'offline' and new.status in ('normal', 'reconnect', 'error') then
    perform notice_event(new."clientID", 'nodeBack', null, new.name, '');
  end if;
  return null;
end $$;
create trigger notice_of_node after update of status on node for each row
  when (old.status is distinct from new.status and new."deletedAt" is null) execute function notice_of_node();

create function notice_of_account() returns trigger language plpgsql as $$
begin
  perform notice_event(coalesce(new."parentClient", new."rootID", new.id), 'accountLocked', null, new.email, '');
  -- a customer's own people too, where it is not the customer itself
  if new."parentClient" is not null and new."rootID" is distinct from new.id and new."rootID" is not null then
    perform notice_event(new."rootID", 'accountLocked', null, new.email, '');
  end if;
  return null;
end $$;
create trigger notice_of_account after update of status on account for each row
  when (new.status = 'lock' and old.status <> 'lock' and new."deletedAt" is null) execute function notice_of_account();

create function notice_of_certificate() returns trigger language plpgsql as $$
declare
  found record;
begin
  select d."domainName" as name, s."clientID", s."userID" into found
    from domain d join site s on s.id = d."siteID" where d.id = new."domainID" and d."deletedAt" is null and s."deletedAt" is null;
  if found.name is not null then
    -- it is tried again and again: once a day is enough
    perform notice_event(found."clientID", 'certificateFailed', new."domainID" || ' ' || current_date, found.name, new.error);
    perform notice_event(found."userID", 'certificateFailed', new."domainID" || ' ' || current_date, found.name, new.error);
  end if;
  return null;
end $$;
create trigger notice_of_certificate after update of state on "autoCertificate" for each row
  when (new.state = 'fail' and old.state <> 'fail' and new."deletedAt" is null) execute function notice_of_certificate();

create function notice_of_backup() returns trigger language plpgsql as $$
begin
  perform notice_event((select "clientID" from "databaseBackup" where id = new."backupID"), 'backupFailed', null, new.kind, coalesce(new.problem, ''));
  return null;
end $$;
create trigger notice_of_backup after update of state on "backupRun" for each row
  when (new.state = 'failed' and old.state <> 'failed') execute function notice_of_backup();
