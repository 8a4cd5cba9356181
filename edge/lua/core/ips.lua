-- Sets of addresses: single ones, CIDRs and ranges `a-b`, IPv4 and IPv6, each with the entry it stands for.
-- Addresses are compared as 4 or 16 bytes; an IPv4-mapped IPv6 address is the IPv4 one.
local byte, char, find, sub, rep = string.byte, string.char, string.find, string.sub, string.rep
local floor, tonumber = math.floor, tonumber

local M = {}
local Set = {}
Set.__index = Set

local mapped = rep("\0", 10) .. "\255\255"

local function v4(text)
  local _, _, a, b, c, d = find(text, "^(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)$")
  a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  if not a or a > 255 or b > 255 or c > 255 or d > 255 then return nil end
  return char(a, b, c, d)
end

-- "1:2:3" → 6 bytes, "" → none, nil when malformed. The last group may be a dotted IPv4 address.
local function groups(text)
  if text == "" then return "" end
  local out = ""
  for part in string.gmatch(text .. ":", "([^:]*):") do
    if find(part, "^%x%x?%x?%x?$") then
      local n = tonumber(part, 16)
      out = out .. char(floor(n / 256), n % 256)
    else
      local four = v4(part)
      if not four or sub(text, -#part) ~= part then return nil end
      out = out .. four
    end
  end
  return out
end

local function v6(text)
  local at = find(text, "::", 1, true)
  if not at then
    local all = groups(text)
    return all and #all == 16 and all or nil
  end
  local left, right = groups(sub(text, 1, at - 1)), groups(sub(text, at + 2))
  if not left or not right or #left + #right > 14 then return nil end
  return left .. rep("\0", 16 - #left - #right) .. right
end

-- "192.0.2.1" → 4 bytes, "2001:db8::1" → 16 bytes, anything else → nil
function M.bytes(text)
  local four = v4(text)
  if four then return four end
  if not find(text, ":", 1, true) then return nil end
  local all = v6(text)
  if all and sub(all, 1, 12) == mapped then return sub(all, 13) end
  return all
end

-- First and last address of a network
local function network(address, bits)
  local size = #address
  if bits > size * 8 then return nil end
  local whole, rest = floor(bits / 8), bits % 8
  local low, high = sub(address, 1, whole), sub(address, 1, whole)
  if rest > 0 then
    local step = 2 ^ (8 - rest)
    local base = floor(byte(address, whole + 1) / step) * step
    low, high, whole = low .. char(base), high .. char(base + step - 1), whole + 1
  end
  return low .. rep("\0", size - whole), high .. rep("\255", size - whole)
end

-- "a", "a/bits" or "a-b" → first, last; nil when malformed
function M.range(text)
  local _, _, one, bits = find(text, "^([%x:.]+)/(%d%d?%d?)$")
  if one then
    local address = M.bytes(one)
    if not address then return nil end
    bits = tonumber(bits)
    -- ::ffff:192.0.2.0/120 was written for 16 bytes
    if #address == 4 and find(one, ":", 1, true) then bits = bits - 96 end
    if bits < 0 then return nil end
    return network(address, bits)
  end
  local _, _, from, to = find(text, "^%s*([%x:.]+)%s*%-%s*([%x:.]+)%s*$")
  if from then
    local low, high = M.bytes(from), M.bytes(to)
    if not low or not high or #low ~= #high then return nil end
    if low > high then low, high = high, low end
    return low, high
  end
  local address = M.bytes(text)
  return address, address
end

function M.set() return setmetatable({ [4] = {}, [16] = {}, sealed = true }, Set) end

-- false: `text` is no address, CIDR or range.
function Set:add(text, entry)
  local low, high = M.range(text)
  if not low then return false end
  local list = self[#low]
  list[#list + 1] = { low, high, entry, high }
  self.sealed = false
  return true
end

local function by_low(a, b) return a[1] < b[1] end

local function seal(self)
  for _, size in ipairs { 4, 16 } do
    local list, top = self[size], ""
    table.sort(list, by_low)
    -- [4]: the greatest last address so far, so that a search knows where to stop
    for i = 1, #list do
      if list[i][2] > top then top = list[i][2] end
      list[i][4] = top
    end
  end
  self.sealed = true
end

-- Marks found[entry] for each entry that covers the address (bytes)
function Set:each(address, found)
  if not self.sealed then seal(self) end
  local list = self[#address]
  local low, high = 0, #list
  while low < high do
    local middle = floor((low + high + 1) / 2)
    if list[middle][1] <= address then low = middle else high = middle - 1 end
  end
  while low > 0 and list[low][4] >= address do
    local item = list[low]
    if item[2] >= address then found[item[3]] = true end
    low = low - 1
  end
end

return M
