-- The wire form of records: `key SP byteLength LF value LF`, length -1 (and no value line) deletes the key.
-- Written by agent/src/render/records.ts.
local find, sub, tonumber = string.find, string.sub, tonumber

local M = {}

local head = "^([a-z]:[!-~]*) (%-?%d+)\n"

-- All frames of `text` → list of {key, value or nil}; nil, why when a single byte is out of place
function M.parse(text)
  local list, n, at, size = {}, 0, 1, #text
  while at <= size do
    local _, stop, key, length = find(text, head, at)
    if not key then return nil, "no frame at byte " .. at - 1 end
    if #key > 302 then return nil, "key too long at byte " .. at - 1 end
    at = stop + 1
    n = n + 1
    if length == "-1" then
      list[n] = { key }
    else
      length = tonumber(length)
      if length < 0 or at + length > size or sub(text, at + length, at + length) ~= "\n" then
        return nil, "wrong length for " .. key
      end
      list[n] = { key, sub(text, at, at + length - 1) }
      at = at + length + 1
    end
  end
  return list
end

-- Reads a snapshot file piece by piece and gives each record to `take(key, value)`.
-- → count, cursor; nil, why when it is torn or malformed (some records were given already)
function M.read(file, take)
  local first = file:read("*l")
  local cursor = first and first:match("^BREAKWATER 1 ([!-~]+)$")
  if not cursor then return nil, "not a snapshot" end
  local count = 0
  while true do
    local line = file:read("*l")
    if not line then return nil, "torn after record " .. count end
    if line == "END " .. count then return count, cursor end
    local key, length = line:match("^([a-z]:[!-~]*) (%d+)$")
    length = tonumber(length)
    local value = key and (length == 0 and "" or file:read(length))
    if not value or #value ~= length or file:read(1) ~= "\n" then return nil, "malformed after record " .. count end
    local ok, why = take(key, value)
    if not ok then return nil, why end
    count = count + 1
  end
end

return M
