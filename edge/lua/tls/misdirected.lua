-- A request over TLS for another host than the connection's (RFC 9110, 15.5.20). Browsers do that where one certificate names both, so
-- it is answered where both belong to one customer; another's host on it is somebody who hides whom he talks to.
local plans = require "core.plans"
local var = ngx.var

-- plan: of the request's host; name: what the connection was opened for, nil: it said nothing. → whether the request is refused
return function(plan, name)
  local version = var.ssl_protocol
  if plan.only13 and version ~= "TLSv1.3" then return true end
  name = name and name:lower()
  if name == plan.host then return false end
  -- In TLS 1.2 a session that goes on has the name it began with: for another name none may (RFC 6066, 3).
  local other = name and plans.of(name)
  return not (other and other.party == plan.party)
end
