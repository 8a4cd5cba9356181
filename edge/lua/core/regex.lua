-- Expressions that people wrote. One that does not compile or takes too long matches nothing: it disables its rule, nothing else.
local re_find = ngx.re.find

local M = {}

-- "j": PCRE's compiler, "o": compiled once per worker; lua_regex_match_limit bounds a match
local options = "jo"

-- → nil when it compiles, else why not. Not kept: most of the expressions a worker checks it will never need.
function M.fault(expression)
  local _, _, why = re_find("", expression)
  return why
end

function M.matches(subject, expression) return (re_find(subject, expression, options)) ~= nil end

-- A URL expression is tried on the path and then on path?query, so that both `\.php$` and `\?id=` say what they seem to.
function M.matches_url(path, query, expression)
  if (re_find(path, expression, options)) then return true end
  return query ~= nil and query ~= "" and (re_find(path .. "?" .. query, expression, options)) ~= nil
end

return M
