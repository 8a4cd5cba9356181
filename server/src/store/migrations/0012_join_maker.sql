-- Who made a join token: it joins nobody once that account may add no node any more. None: the operator itself.
alter table "joinToken" add column "makerID" bigint references account;
create index "joinToken_maker" on "joinToken" ("makerID") where "makerID" is not null;
-- Whose the tokens of before are nobody knows. They live for a day; a new one is made in a moment.
update "joinToken" set "expiredAt" = now() where "usedAt" is null and "expiredAt" > now();
