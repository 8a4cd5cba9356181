-- Modules: settings of one type that domains of a site share, each a record of its own (`m:<id>`), compiled once per worker.
local cjson = require "cjson.safe"
local faults = require "core.faults"
local memo = require "core.memo"
local problems = require "core.problems"
local regex = require "core.regex"
local store = require "core.store"

-- types: type → file with compile(content, report) → conf; report(place, why) names what had to be left out of it.
local M = {
  types = {
    cors = require "headers.cors",
    customHeader = require "headers.custom",
    proxyRewrite = require "features.proxy_rewrite",
    urlRedirect = require "features.url_redirect",
  },
}

-- Pieces of 256 bytes of the records that a worker holds compiled
local weight_max = 40000
local compiled

local function weigh(module) return module.weight end
function M.drop_all()
  compiled = memo.new(weight_max)
  compiled.weigh = weigh
end
M.drop_all()

-- Raises what does not compile. → conf, or nil: of a type that nobody here knows; faults {site, list = its type, id = the module's, error}
function M.compile(record)
  assert(type(record.id) == "number" and type(record.type) == "string" and type(record.content) == "table", "no module")
  local kind, found = M.types[record.type], {}
  local function told(place, why)
    found[#found + 1] = { site = record.site, list = record.type, id = record.id, error = place .. ": " .. why }
  end
  if not kind then
    if record.ignorable then return record.content, found end
    told(0, "no such type of module")
    return nil, found
  end
  local conf = kind.compile(record.content, told)
  -- for what it says of a request
  if type(conf) == "table" then conf.site, conf.name = tostring(record.site), "site " .. tostring(record.site) .. ": " .. record.type .. " " .. record.id end
  return conf, found
end

-- → {type, conf}, or nil: there is no such record, or it cannot be read. Domains that name it are closed then: what it would have done
-- to their requests nobody here can tell.
function M.of(id)
  local module = memo.get(compiled, id)
  if module then return module end
  local text = store.get("m:" .. id)
  if not text then return nil end
  local record = cjson.decode(text)
  regex.begin(tostring(record.site))
  local ok, conf, found = pcall(M.compile, record)
  if not ok then
    problems.note("record", "module " .. id .. " does not compile: " .. tostring(conf))
    return nil
  end
  faults.set("module", id, found)
  if conf == nil then return nil end
  module = { type = record.type, conf = conf, weight = 1 + #text / 256, rev = record.rev or 0 }
  memo.put(compiled, id, module)
  return module
end

function M.drop(id) memo.drop(compiled, id) end

return M
