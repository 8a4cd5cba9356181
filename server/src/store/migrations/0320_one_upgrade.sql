-- One upgrade of nodes at a time of each operator: a second one would take nodes past the stages of the first, and its watch from them.
update task t set state = 'cancelled', "endedAt" = now(), "beatAt" = null, run = run + 1, "updatedAt" = now()
  where kind = 'nodeUpgrade' and "endedAt" is null
    and exists (select from task o where o.kind = t.kind and o."rootID" = t."rootID" and o."endedAt" is null and o.id < t.id);
create unique index task_single on task ("rootID", kind) where kind = 'nodeUpgrade' and "endedAt" is null;
