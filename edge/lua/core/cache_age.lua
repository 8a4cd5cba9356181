-- Which life of the cache it is (agent/src/cache-age.ts): a word in front of every key. Another one empties the cache for the workers that
-- are started with it; those of before end by themselves.
local M = { name = "", prefix = "" }

function M.setup(name)
  M.name = name or ""
  -- A site's id is a number, and this is not.
  M.prefix = M.name == "" and "" or M.name .. "|"
end

return M
