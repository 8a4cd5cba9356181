-- Through which server an operator's mails go.
create table "mailServer" (
  id bigint generated always as identity primary key,
  "clientID" bigint not null references account,
  host text not null default '',
  port int not null default 587,
  security text not null default 'starttls' check (security in ('starttls', 'tls', 'none')),
  username text not null default '',
  -- sealed
  password text,
  "fromAddress" text not null default '',
  "fromName" text not null default '',
  -- when a mail of the test went out by what stands here now
  "testedAt" timestamptz,
  "rowVersion" int not null default 1,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create unique index mail_server_client on "mailServer" ("clientID") where "deletedAt" is null;
create index mail_server_clients on "mailServer" ("clientID");

-- Mails that wait for their server. A row goes with its mail, or when nobody would need it any more.
create table mail (
  id bigint generated always as identity primary key,
  -- the operator by whose server it goes; null: the vendor's people
  "clientID" bigint references account,
  -- sealed: to whom, which template, and what it says
  message text not null,
  attempts int not null default 0,
  -- what kept it the last time
  problem text,
  "nextAt" timestamptz not null default now(),
  "until" timestamptz not null,
  "createdAt" timestamptz not null default now()
);
create index mail_client on mail ("clientID");
create index mail_next on mail ("nextAt");
