-- The audit is appended to and nothing else: whatever the application's role is tricked into, no line that stands is rewritten or taken away.
-- What retention removes is at least thirty days old (the least that can be set); a line that stands for many counts on.
create function audit_kept() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old."createdAt" > now() - interval '30 days' then
      raise exception 'the audit is kept: line % is not thirty days old', old.id using errcode = 'insufficient_privilege';
    end if;
    return old;
  end if;
  if to_jsonb(new) - 'times' - 'lastAt' is distinct from to_jsonb(old) - 'times' - 'lastAt' or old.times is null or new.times < old.times then
    raise exception 'the audit is kept: line % stays as it was written', old.id using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger audit_kept before update or delete on audit for each row execute function audit_kept();
create function audit_whole() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is kept: it cannot be emptied' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_whole before truncate on audit execute function audit_whole();

-- By time, for whoever looks at one evening; by request, for what one of them did; by person, for those who see their own.
create index audit_created on audit ("createdAt");
create index audit_request on audit ("reqID");
create index audit_account on audit ("accountID", id);
