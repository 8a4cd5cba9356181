-- What a name server refused of single names (name, why, and that with its code), as far as it is shown; and what went wrong with a zone, as
-- a code with what stands in it, so that everybody reads it in their language.
alter table cname add refused jsonb not null default '[]', add "refusedCount" int not null default 0, add "errorSaid" jsonb;
