-- Who held a role that was deleted holds none: a number of nothing gave no key either.
update account a set "roleID" = null, "updatedAt" = now(), "rowVersion" = "rowVersion" + 1
  where exists (select from role r where r.id = a."roleID" and r."deletedAt" is not null);
