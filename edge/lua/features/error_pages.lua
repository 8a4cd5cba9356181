-- Error pages: what a visitor gets instead of our own page of a status. A site's come before those of the zone, which hold for
-- every site and for hosts that nobody knows. phases/runner.lua alone shows them.
local cjson = require "cjson.safe"
local problems = require "core.problems"
local store = require "core.store"
local ngx = ngx
local var = ngx.var
local find, gsub, lower, match, sub = string.find, string.gsub, string.lower, string.match, string.sub

local M = { name = "errorPages" }

-- Stands for the number of the request (contract/src/protect/error-pages.ts, errorPageRequestID).
local mark = "{{requestID}}"

-- → pieces between the marks
local function pieces(text)
  local list, from = {}, 1
  while true do
    local first, last = find(text, mark, from, true)
    list[#list + 1] = sub(text, from, first and first - 1)
    if not first then return list end
    from = last + 1
  end
end

-- Nothing in a script may end its element, or open a comment that swallows its end. Within texts, templates and patterns of JavaScript
-- the backslash changes nothing.
local function wrapped(script)
  script = gsub(gsub(script, "</", "<\\/"), "<!%-%-", "<\\!--")
  return '<!doctype html><meta charset="utf-8"><title>' .. mark .. "</title><body><script>\n" .. script .. "\n</script><noscript>" .. mark .. "</noscript>\n"
end

-- → pattern of what the text is with any request's number
local function like(text)
  local list = pieces(text)
  for i, piece in ipairs(list) do list[i] = gsub(piece, "%W", "%%%0") end
  return "^" .. table.concat(list, "%x*") .. "$"
end

-- What becomes a header line: printable ASCII alone. → page, or nil
local function redirect(url)
  local authority, rest = match(url, "^[Hh][Tt][Tt][Pp][Ss]?://([!-.0-~]+)([!-~]*)$")
  if not authority then return nil end
  authority, rest = match(url, "^%a+://([^/?#]+)([^#]*)")
  if not authority or find(authority, "@", 1, true) then return nil end
  if find(authority, mark, 1, true) then return nil end
  if sub(rest, 1, 1) ~= "/" then rest = "/" .. rest end
  return { location = pieces(url), host = lower((gsub(authority, ":%d*$", ""))), uri = like(rest) }
end

-- record: contract/src/edge/kinds/errorPages.ts, or the zone's. report(id, why): a page is known by its code. → {[code] = page}
function M.compile(record, report)
  local pages = {}
  for _, row in ipairs(record.errorPages or {}) do
    local page
    if type(row.content) ~= "string" or type(row.code) ~= "number" then
      report(row.code, "no page")
    elseif row.type == "urlRedirect" then
      page = redirect(row.content)
      if not page then report(row.code, "no address to send visitors to: " .. row.content) end
    elseif row.type == "javascript" then
      page = { pieces = pieces(wrapped(row.content)) }
    elseif row.type == "content" then
      page = { pieces = pieces(row.content) }
    else
      report(row.code, "a page of an unknown type")
    end
    if page then pages[row.code] = page end
  end
  return pages
end

-- Of the zone; nil: not read since its record changed
local of_zone

local function zone_pages()
  if of_zone then return of_zone end
  local text = store.get "z:"
  of_zone = M.compile(text and cjson.decode(text) or {}, function(code, why) problems.note("record", "error page " .. tostring(code) .. " of the zone: " .. why) end)
  return of_zone
end

function M.drop_zone() of_zone = nil end

-- site: of the host, where one is known. → page or nil
local function of(status, site)
  local own = site and site.held and site.held.errorPages
  return own and own.conf[status] or zone_pages()[status]
end

-- Sending a visitor to where it has just been refused would go round for ever.
local function comes_back(page) return page.host == var.host and match(var.request_uri, page.uri) ~= nil end

-- → status, body (nil: a redirect, whose header is set); nothing where no page is set up. rid: the request's number
function M.show(status, site, rid)
  local page = of(status, site)
  if not page then return nil end
  if page.pieces then return status, table.concat(page.pieces, rid) end
  if comes_back(page) then return nil end
  ngx.header["Location"] = table.concat(page.location, rid)
  return 302, ""
end

return M
