-- What an origin sends, line by line. `socket:receive "*l"` has no bound: it holds a line that does not end in the worker's memory.
local clock = require "core.clock"
local find, sub = string.find, string.sub

local M = {}
local meta = { __index = M }
local piece = 4096

-- socket: anything with receiveany
function M.of(socket) return setmetatable({ socket = socket, text = "", at = 1 }, meta) end

-- → what is there, at most `most` bytes; nil, why
function M:some(most)
  local first, last = self.at, #self.text
  if first > last then
    local data, why, part = self.socket:receiveany(most)
    if data then return data end
    if part and part ~= "" then return part end
    return nil, why
  end
  last = math.min(last, first + most - 1)
  self.at = last + 1
  return sub(self.text, first, last)
end

-- → the line without its end; nil when it is longer than `most`, the time `until_time` (of core.clock) has passed, or nothing more comes
function M:line(most, until_time)
  local seen = self.at
  while true do
    local last = find(self.text, "\n", seen, true)
    if last then
      local line = sub(self.text, self.at, last - 1)
      self.at = last + 1
      if #line > most then return nil end
      return sub(line, -1) == "\r" and sub(line, 1, -2) or line
    end
    local rest = sub(self.text, self.at)
    if #rest > most or clock.now() > until_time then return nil end
    local data, _, part = self.socket:receiveany(piece)
    data = data or part
    if not data or data == "" then return nil end
    self.text, self.at, seen = rest .. data, 1, #rest + 1
  end
end

return M
