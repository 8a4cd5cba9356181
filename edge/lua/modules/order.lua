-- The protections in the order in which they judge a request. A new one is a file in this folder and a line here.
--
-- A module is { name, cause, compile(part, report) → rules }:
--   name     of its list in the site's document and in /stat
--   cause    block reason, as statistics count it
--   compile  reads its part of the site's document. report(id, why) names what had to be left out.
-- A rule is {id, action, when}: "deny" (403), "drop" (no answer), "limit" (929) or "skip" (this and every later protection), where the
-- condition holds; one with `count` as well is a counter, and its action follows where the count is passed. Conditions are described
-- in stages/rules.lua, counts in stages/counted.lua.
-- A module sees no request: the stages judge, and phases/runner.lua alone ends one, counts it and writes the reason into the log line.
return {
  require "modules.whitelists",
  require "modules.blacklists",
  require "modules.user_agents",
  require "modules.frequencies",
  require "modules.limit_reqs",
}
