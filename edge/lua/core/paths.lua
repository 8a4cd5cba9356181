-- Paths that two readers may take apart differently. nginx decodes a path, merges its slashes and resolves its dot segments, and rules
-- look at that ($uri); the key of the cache and the origin get the path as it came. Origins do some of these steps and not others:
-- `/account/..%2fx` is `/x` to one and a page of /account to the next. What is decided by the path must hold however it is read.
local char, find, gsub, match, tonumber = string.char, string.find, string.gsub, string.match, tonumber
local concat = table.concat

local M = {}

local function decode(text)
  return (gsub(text, "%%(%x%x)", function(hex) return char(tonumber(hex, 16)) end))
end

local function slashes(text)
  local _, n = gsub(text, "/", "")
  return n
end

-- uri: as in $request_uri. → nil: there is one reading; "split": readers differ in where segments end (`//`, `%2F`);
-- "wild": there are dot segments in some spelling, backslashes, or signs encoded twice: whose page it is nobody can tell
function M.kind(uri)
  if not (find(uri, "[%%\\]") or find(uri, "//", 1, true) or find(uri, "/.", 1, true)) then return nil end
  local path = match(uri, "^[^?]*")
  local once = decode(path)
  local twice = decode(once)
  if find(twice, "\\", 1, true) or find(twice .. "/", "/%.%.?[/;]") or slashes(twice) ~= slashes(once) then return "wild" end
  if find(path, "//", 1, true) or slashes(once) ~= slashes(path) then return "split" end
  return nil
end

-- What stands between slashes. → segments as they came
local function segments(path, decoded)
  if decoded then path = gsub(path, "%%2[fF]", "/") end
  local list = {}
  for segment in path:gmatch "/([^/]*)" do list[#list + 1] = segment end
  return list
end

-- A slash that is part of a segment stays encoded.
local function shown(segment) return (gsub(decode(gsub(segment, "%%2[fF]", "%%252F")), "\\", "/")) end

-- merged: empty segments are left out; dots: nil, "plain" (`..` alone is resolved) or "any" (`%2e%2E` too)
local function reading(list, merged, dots)
  local kept = {}
  for i, segment in ipairs(list) do
    local text = shown(segment)
    local dot = dots and (dots == "any" and text or segment)
    dot = dot and match(dot, "^[^;]*")
    if dot == ".." then
      kept[#kept] = nil
      if i == #list then kept[#kept + 1] = "" end
    elseif dot == "." then
      if i == #list then kept[#kept + 1] = "" end
    elseif text ~= "" or not merged or i == #list then
      kept[#kept + 1] = text
    end
  end
  return "/" .. concat(kept, "/")
end

-- With its slashes as they came
function M.literal(uri) return reading(segments(match(uri, "^[^?]*")), false) end

-- Each way in which the path may be read, nginx's own ($uri) first
function M.readings(uri, path)
  local raw = match(uri, "^[^?]*")
  local list, known = { path }, { [path] = true }
  for _, decoded in ipairs { false, true } do
    local parts = segments(raw, decoded)
    for _, merged in ipairs { false, true } do
      for _, dots in ipairs { false, "plain", "any" } do
        local text = reading(parts, merged, dots)
        if not known[text] then
          known[text] = true
          list[#list + 1] = text
        end
      end
    end
  end
  return list
end

return M
