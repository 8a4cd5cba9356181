-- Whose account this is: who made it, and so who may act as it. Whatever has none hangs on its root.
alter table account add column "parentID" bigint references account;
-- A lock is lifted by whoever set it, or by somebody above; a pause by anybody who may act as the account.
alter table account add column "lockedBy" bigint references account;
create index "account_lockedBy" on account ("lockedBy") where "lockedBy" is not null;

-- What is known of the past is the maker's e-mail. Where it names exactly one older account of the tree, that is the parent.
with maker as (
  select a.id, min(m.id) as "parentID"
  from account a
    join account m on lower(m.email) = lower(a."createdBy") and m.id < a.id
      and m.auth = case when a."isRoot" then 'client' else a.auth end
      and m."rootID" = case when a."isRoot" then a."parentClient" else a."rootID" end
  where not a."isRoot" or a.auth = 'user'
  group by a.id having count(*) = 1
)
update account a set "parentID" = maker."parentID" from maker where maker.id = a.id;
update account set "parentID" = case when "isRoot" then "parentClient" else coalesce("parentUser", "rootID") end
  where "parentID" is null and (not "isRoot" or auth = 'user');
create index account_parent on account ("parentID");

-- Who vouches for a role: it never gives more than its maker holds now. Nobody: the root of the tree.
alter table role add column "makerID" bigint references account;
create index role_maker on role ("makerID") where "makerID" is not null;

-- The session from which `proxy` opened this one; they end together.
alter table session add column "openerID" uuid references session on delete cascade;
create index session_opener on session ("openerID") where "openerID" is not null;
update session set "endedAt" = now(), successor = null where "proxyID" is not null and "endedAt" is null;

-- How a call ended, also one that was refused, and how a sign-in did.
alter table audit add column status int, add column "durationMs" int, add column reason text;

-- Tries are counted in memory, within bounds.
drop table "loginAttempt";
