-- The protections in the order in which they judge a request. A new one is a file in this folder and a line here.
--
-- A module is { name, cause, compile(site, report) → conf or nil, check(conf, request) → verdict or nil }:
--   name     of its list in the site's document and in /stat
--   cause    block reason, as statistics count it
--   compile  reads the site's document; nil: the site uses no such rule and the module costs it nothing. report(id, why) names a
--            rule that had to be left out.
--   check    {action, rule}: "deny" (403), "drop" (no answer) or "skip" (every later protection). `request` is core/request.lua, and
--            what it does not tell the check must not depend on: verdicts are kept.
-- A module never ends a request; phases/runner.lua alone does, counts it and writes the reason into the log line.
return {
  require "modules.whitelists",
  require "modules.blacklists",
  require "modules.user_agents",
}
