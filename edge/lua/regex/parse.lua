-- What an expression says, as a tree: the part of PCRE's language that customers may write. contract/src/rules/expression.ts reads the same
-- and accepts no other; a test of both compares them. Recursion, conditions and other rare signs are not in it.
--
-- Nodes: {op = "set", set, plain = of one letter}, "cat", "alt", "repeat" (node, min, max, mode), "capture" (n, node), "look" (ahead,
-- negative, node), "atomic" (node), "assert" (kind), "ref" (n or name: what refers back). A set is {[byte] = true}.
local byte, char, find, lower, sub, upper = string.byte, string.char, string.find, string.lower, string.sub, string.upper

local M = {}

-- Brackets in brackets; PCRE allows 250
local depth_max = 100
local repeat_max = 65535
-- Bytes of a group's name that PCRE takes
local name_max = 32

local function refuse(why) error({ why = why }, 0) end

local function range(set, from, to)
  for b = from, to do set[b] = true end
  return set
end
local function inverse(set)
  local made = {}
  for b = 0, 255 do
    if not set[b] then made[b] = true end
  end
  return made
end
local function of(...)
  local set = {}
  for _, b in ipairs { ... } do set[b] = true end
  return set
end
local function join(set, more)
  for b in pairs(more) do set[b] = true end
  return set
end

local digit = range({}, 48, 57)
local letter = range(range({}, 65, 90), 97, 122)
local word = join(join(of(95), digit), letter)
local space = of(9, 10, 11, 12, 13, 32)
local across, down = of(9, 32, 0xa0), of(10, 11, 12, 13, 0x85)
local line = of(10)
local everything = range({}, 0, 255)
local classes = {
  d = digit, D = inverse(digit), w = word, W = inverse(word), s = space, S = inverse(space),
  h = across, H = inverse(across), v = down, V = inverse(down), N = inverse(line),
}
local named = {
  alpha = letter, digit = digit, alnum = join(join({}, letter), digit), word = word, space = space,
  lower = range({}, 97, 122), upper = range({}, 65, 90), blank = of(9, 32), cntrl = join(range({}, 0, 31), of(127)),
  graph = range({}, 33, 126), print = range({}, 32, 126), ascii = range({}, 0, 127),
  punct = join(join(range({}, 33, 47), range({}, 58, 64)), join(range({}, 91, 96), range({}, 123, 126))),
  xdigit = join(join(range({}, 65, 70), range({}, 97, 102)), digit),
}
local controls = { a = 7, e = 27, f = 12, n = 10, r = 13, t = 9 }

-- With (?i) a letter stands for both
local function folded(set)
  local made = {}
  for b in pairs(set) do
    local c = char(b)
    made[b], made[byte(lower(c))], made[byte(upper(c))] = true, true, true
  end
  return made
end

-- An escape that is one byte; at: behind the backslash. → byte, what follows; nil: it is no such
local function escaped(text, at)
  local c = sub(text, at, at)
  if controls[c] then return controls[c], at + 1 end
  if c == "x" then
    local _, to, digits = find(text, "^{(%x%x?)}", at + 1)
    if not digits then _, to, digits = find(text, "^(%x%x)", at + 1) end
    if not digits then refuse "an escape of few digits" end
    return tonumber(digits, 16), to + 1
  end
  if c == "0" then
    local _, to, digits = find(text, "^([0-7][0-7]?)", at + 1)
    return digits and tonumber(digits, 8) or 0, (to or at) + 1
  end
  if find(c, "^[^%w]") and byte(c) < 128 then return byte(c), at + 1 end
  return nil
end

-- PCRE takes `[:word:]` for a mistake where it is no part of a class: from its first sign to the same one before a bracket. at: behind "["
local function is_named(text, at)
  local sign = sub(text, at, at)
  if not find(sign, "^[:.=]") then return false end
  at = at + 1
  while at <= #text do
    local two = sub(text, at, at + 1)
    if two == sign .. "]" then return true end
    if sub(two, 1, 1) == "]" then return false end
    at = at + ((two == "\\]" or two == "\\\\") and 2 or 1)
  end
  return false
end

-- Behind "[". fold: letters stand for both. → its sign, set, what follows
local function class(text, at, fold)
  if is_named(text, at) then refuse "a class of a class" end
  local set, negative = {}, sub(text, at, at) == "^"
  if negative then at = at + 1 end
  local first = true
  while true do
    local c = sub(text, at, at)
    local from
    if c == "" then refuse "a class without end" end
    if c == "]" and not first then break end
    local _, to, not_, name = find(text, "^%[:(%^?)(%l+):%]", at)
    -- which letters these two leave out hangs on when they are folded
    if fold and (name == "upper" or name == "lower") then refuse "a class of one case, whatever the case" end
    if name then
      join(set, not_ == "" and (named[name] or refuse "a class of an unknown name") or inverse(named[name] or refuse "a class of an unknown name"))
      at = to + 1
    elseif find(text, "^%[[.=:]", at) then
      refuse "a class of signs"
    elseif c == "\\" then
      local which = sub(text, at + 1, at + 1)
      if classes[which] and which ~= "N" then
        join(set, classes[which])
        at = at + 2
      elseif which == "b" then
        from, at = 8, at + 2
      else
        from, at = escaped(text, at + 1)
        if not from then refuse "an escape in a class" end
      end
    else
      from, at = byte(c), at + 1
    end
    local next_, after = sub(text, at, at), sub(text, at + 1, at + 1)
    if from and next_ == "-" and after ~= "]" and after ~= "" then
      local last
      if after == "\\" then
        local which = sub(text, at + 2, at + 2)
        if which == "b" then last, at = 8, at + 3 else last, at = escaped(text, at + 2) end
      elseif after == "[" and find(text, "^%[[.=:]", at + 1) then
        refuse "a range of signs"
      else
        last, at = byte(after), at + 2
      end
      if not last or last < from then refuse "a range without end" end
      range(set, from, last)
    elseif from then
      set[from] = true
    elseif next_ == "-" and after == "-" then
      refuse "a range of classes"
    end
    first = false
  end
  return negative and "negative" or "positive", set, at + 1
end

-- {2}, {2,}, {2,5}. → min, max (-1: no end), what follows; nil: it is text
local function counted(text, at)
  local _, to, min = find(text, "^{(%d+)}", at)
  if min then return tonumber(min), tonumber(min), to + 1 end
  local max
  _, to, min, max = find(text, "^{(%d+),(%d*)}", at)
  if min then return tonumber(min), max == "" and -1 or tonumber(max), to + 1 end
  -- what newer releases take for a count
  if find(text, "^{%s*[%d,]", at) then refuse "a count that is read in two ways" end
  return nil
end

local parse_group

-- A quantifier behind an atom. → node, what follows
local function quantified(node, text, at)
  local c, min, max = sub(text, at, at), nil, nil
  local after = at + 1
  if c == "*" then min, max = 0, -1
  elseif c == "+" then min, max = 1, -1
  elseif c == "?" then min, max = 0, 1
  elseif c == "{" then
    min, max, after = counted(text, at)
    if not min then return node, at end
    if min > repeat_max or max > repeat_max or (max >= 0 and max < min) then refuse "a count out of bounds" end
  else
    return node, at
  end
  if node.op == "assert" or node.op == "look" then refuse "what is repeated takes no place" end
  local mode, sign = "greedy", sub(text, after, after)
  if sign == "?" then mode, after = "lazy", after + 1
  elseif sign == "+" then mode, after = "possessive", after + 1 end
  if find(text, "^[*+?]", after) or (sub(text, after, after) == "{" and counted(text, after)) then refuse "a quantifier behind another" end
  return { op = "repeat", node = node, min = min, max = max, mode = mode }, after
end

-- One letter; with (?i) in both cases
local function letter_of(b, flags) return { op = "set", set = flags.i and folded(of(b)) or of(b), plain = true } end

local function capture(state, name)
  state.captures = state.captures + 1
  if name then
    if #name > name_max then refuse "a name that is too long" end
    if state.names[name] then refuse "two groups of one name" end
    state.names[name] = true
  end
  return state.captures
end

-- Digits or a name, of a group that stands anywhere. → node, what follows
local function reference(state, text, at)
  local _, to, n = find(text, "^([1-9])", at)
  if n and find(text, "^%d", to + 1) then refuse "a number that is read in two ways" end
  local name
  if not n then _, to, name = find(text, "^k<([%a_][%w_]*)>", at) end
  if not to then return nil end
  local node = { op = "ref", n = tonumber(n), name = name }
  state.references[#state.references + 1] = node
  return node, to + 1
end

-- Behind "(?". flags may be changed for the rest of the group. → node or nil, what follows
local function special(state, text, at, flags, depth)
  local two, three = sub(text, at, at), sub(text, at, at + 1)
  if two == ":" then return parse_group(state, text, at + 1, setmetatable({}, { __index = flags }), depth) end
  if two == ">" then
    local node, after = parse_group(state, text, at + 1, setmetatable({}, { __index = flags }), depth)
    return { op = "atomic", node = node }, after
  end
  if two == "=" or two == "!" or three == "<=" or three == "<!" then
    local behind = two == "<"
    local node, after = parse_group(state, text, at + (behind and 2 or 1), setmetatable({}, { __index = flags }), depth)
    return { op = "look", ahead = not behind, negative = sub(three, behind and 2 or 1, behind and 2 or 1) == "!", node = node }, after
  end
  local _, to, name = find(text, "^P?<([%a_][%w_]*)>", at)
  if not to then _, to, name = find(text, "^'([%a_][%w_]*)'", at) end
  if to then
    local n = capture(state, name)
    local node, after = parse_group(state, text, to + 1, setmetatable({}, { __index = flags }), depth)
    return { op = "capture", n = n, node = node }, after
  end
  local _, last, on, off, sign = find(text, "^([ims]*)%-?([ims]*)([:)])", at)
  if not last or (on == "" and off == "") then refuse "a bracket of a rare kind" end
  local inner = sign == ":" and setmetatable({}, { __index = flags }) or flags
  for letter_ in on:gmatch "." do inner[letter_] = true end
  if find(text, "^[ims]*%-", at) then
    for letter_ in off:gmatch "." do inner[letter_] = false end
  elseif off ~= "" then
    refuse "a bracket of a rare kind"
  end
  if sign == ":" then return parse_group(state, text, last + 1, inner, depth) end
  return nil, last + 1
end

local asserts = { b = "word", B = "inside", A = "begin", z = "end", Z = "last" }

-- → node, or nil for what changes flags alone, what follows
local function atom(state, text, at, flags, depth)
  local c = sub(text, at, at)
  if c == "(" then
    local after = sub(text, at + 1, at + 1)
    if after == "?" then return special(state, text, at + 2, flags, depth + 1) end
    if after == "*" then refuse "a verb" end
    local n = capture(state)
    local node, rest = parse_group(state, text, at + 1, setmetatable({}, { __index = flags }), depth + 1)
    return { op = "capture", n = n, node = node }, rest
  end
  if c == "[" then
    local sign, set, rest = class(text, at + 1, flags.i)
    if flags.i then set = folded(set) end
    return { op = "set", set = sign == "negative" and inverse(set) or set }, rest
  end
  if c == "." then return { op = "set", set = flags.s and everything or classes.N }, at + 1 end
  if c == "^" then return { op = "assert", kind = flags.m and "line begin" or "begin" }, at + 1 end
  if c == "$" then return { op = "assert", kind = flags.m and "line end" or "last" }, at + 1 end
  if c == "\\" then
    local which = sub(text, at + 1, at + 1)
    if classes[which] then return { op = "set", set = classes[which] }, at + 2 end
    if asserts[which] then return { op = "assert", kind = asserts[which] }, at + 2 end
    local back, behind = reference(state, text, at + 1)
    if back then return back, behind end
    local b, rest = escaped(text, at + 1)
    if not b then refuse("an escape of a rare kind: \\" .. which) end
    return letter_of(b, flags), rest
  end
  if find(c, "^[*+?]") then refuse "nothing to repeat" end
  if c == "{" and counted(text, at) then refuse "nothing to repeat" end
  return letter_of(byte(c), flags), at + 1
end

-- Up to ")" or the end. → node, what follows
function parse_group(state, text, at, flags, depth)
  if depth > depth_max then refuse "too many brackets in brackets" end
  local branches, branch = {}, { op = "cat" }
  while true do
    local c = sub(text, at, at)
    if c == "" or c == ")" then
      if (c == "") ~= (depth == 0) then refuse "a bracket without its other" end
      branches[#branches + 1] = branch
      return branches[2] and { op = "alt", unpack(branches) } or branch, at + 1
    end
    if c == "|" then
      branches[#branches + 1], branch = branch, { op = "cat" }
      at = at + 1
    else
      local node
      node, at = atom(state, text, at, flags, depth)
      if node then
        node, at = quantified(node, text, at)
        branch[#branch + 1] = node
      elseif find(text, "^[*+?{]", at) then
        refuse "nothing to repeat"
      end
    end
  end
end

-- → {node, captures}; nil and why: it is not in this language
function M.parse(text)
  local state = { captures = 0, names = {}, references = {} }
  local ok, node = pcall(parse_group, state, text, 1, {}, 0)
  if not ok then return nil, type(node) == "table" and node.why or tostring(node) end
  for _, back in ipairs(state.references) do
    if not (back.name and state.names[back.name] or back.n and back.n <= state.captures) then return nil, "it refers to no group" end
  end
  return { node = node, captures = state.captures }
end

return M
