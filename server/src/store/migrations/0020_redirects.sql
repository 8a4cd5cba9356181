-- Redirects: the rows of a module of the type urlRedirect.
create table redirect (
  id bigint generated always as identity primary key,
  "moduleID" bigint not null references module on delete cascade,
  "matchType" text not null,
  source text not null,
  target text not null,
  "statusCode" int not null,
  "keepQuery" boolean not null default true,
  enabled boolean not null default true,
  "createdAt" timestamptz not null default now(),
  "updatedAt" timestamptz not null default now(),
  "deletedAt" timestamptz
);
create index "redirect_module" on redirect ("moduleID");
create index redirect_deleted on redirect ("deletedAt") where "deletedAt" is not null;
