-- When a resolver last said what the zone above has of a zone's keys ("aboveAt": when that was last asked), and until when resolvers may
-- remember a DS of them that was seen there: its last sight and its TTL. Of what was seen before this was written down the TTL is not known:
-- a day, as most zones above have it at the most.
alter table cname add column "dsSeenAt" timestamptz;
alter table cname add column "dsGoneFrom" timestamptz;
update cname set "dsSeenAt" = "aboveAt" where "dsAbove" <> '{}';
update cname set "dsGoneFrom" = coalesce("aboveAt", clock_timestamp()) + interval '1 day' where "dsAbove" && (ds || "dsBefore");
