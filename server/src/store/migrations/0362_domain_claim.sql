-- With whose word a copy has its name: the id of the domain that it was copied from, or of the one that was copied from. A copy made later
-- speaks no later (src/domain/claims.ts).
alter table domain add column "claimID" bigint;
