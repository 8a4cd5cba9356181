-- The lists of a site, each a record of its own (`p:<kind>:<siteID>`), compiled once per worker: when one changes the others stay.
-- A list's kind has one name everywhere: contract/src/edge/kinds/<name>.ts, and `name` of the file that compiles it here.
local cjson = require "cjson.safe"
local faults = require "core.faults"
local memo = require "core.memo"
local modules = require "modules.order"
local rules = require "stages.rules"
local store = require "core.store"

local M = {}

-- kind → file with compile(record, report) → conf; report(id, why) names what had to be left out
local kinds = {
  purges = require "cache.purges",
  cacheRules = require "cache.rules",
  rates = require "core.rates",
  errorPages = require "features.error_pages",
}
-- Those whose conf is a list of rules that the stages judge by
local judging = {}
for _, module in ipairs(modules) do kinds[module.name], judging[module.name] = module, module end

-- Pieces of 256 bytes of the records that a worker holds compiled
local weight_max = 40000
local compiled

local function weigh(part) return part.weight end
function M.drop_all()
  compiled = memo.new(weight_max)
  compiled.weigh = weigh
end
M.drop_all()

function M.known(kind) return kinds[kind] ~= nil end

-- → iterator over the names
function M.names() return pairs(kinds) end

-- record: the part's, or a site's of the first release, which had its lists in itself.
-- → {conf, found}; found: faults {site, list, id, error}, to which compiling its rules adds (core/sites.lua)
local function compile(kind, record, weight)
  local found = {}
  local function told(id, why) found[#found + 1] = { site = record.id, list = kind, id = id, error = why } end
  local conf = kinds[kind].compile(record, told)
  local module = judging[kind]
  if module then
    for _, row in ipairs(conf) do row.cause, row.report = module.cause, told end
  end
  return { conf = conf, found = found, own = #found, weight = weight, rev = record.rev or 0 }
end

-- Raises what does not compile. → faults
function M.inspect(kind, record)
  local part = compile(kind, record, 1)
  if judging[kind] then rules.compile(part.conf) end
  return part.found
end

-- record: the site's. → part, or nil: there is no such record. Raises what does not compile.
function M.of(kind, record)
  local key = "p:" .. kind .. ":" .. record.id
  local part = memo.get(compiled, key)
  if part then return part end
  local text = store.get(key)
  if not text then return record[kind] and compile(kind, record, 1) or nil end
  part = compile(kind, cjson.decode(text), 1 + #text / 256)
  if not judging[kind] then faults.set(record.id, kind, part.found) end
  memo.put(compiled, key, part)
  return part
end

function M.drop(key) memo.drop(compiled, key) end

return M
