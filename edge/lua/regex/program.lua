-- The tree of an expression as instructions for regex/run.lua, in arrays of C.
local ffi = require "ffi"

local M = {}

-- What one expression may come to, its counts written out, so that `(a{100}){100}` is too long: instructions; copies of a bracket that may
-- be missing, which stand in one another in PCRE (its compiler takes the square of their number: 1,000 of `a?` 8 ms, 250 less than one);
-- bytes of PCRE's code, of which it takes 64 KB. contract/src/rules/expression.ts has the same numbers.
M.longest, M.copies, M.bytes = 3000, 250, 50000
-- An earlier release let in what comes to more, and took whatever PCRE did: nobody is refused because of an upgrade. So what is past the bounds
-- is tried by regex/run.lua alone, whose time hangs on no copies, up to so many (PCRE's 64 KB have no room for more); there a counted letter is one.
M.stored = 33000

M.op = {
  set = 1, split = 2, jump = 3, save = 4, assert = 5, look = 6, atomic = 7, done = 8, loop = 9, unless = 10, back = 11, eat = 12,
  run = 13, span = 14, few = 15,
}
M.asserts = { ["begin"] = 1, ["end"] = 2, last = 3, word = 4, inside = 5, ["line begin"] = 6, ["line end"] = 7 }
local op = M.op

local function refuse(why) error({ why = why }, 0) end

-- → bytes it takes, if that is the same for all it matches
local function length(node)
  local kind = node.op
  if kind == "set" then return 1 end
  if kind == "assert" or kind == "look" then return 0 end
  if kind == "ref" then return nil end
  if kind == "capture" or kind == "atomic" then return length(node.node) end
  if kind == "repeat" then
    local one = length(node.node)
    return one and node.min == node.max and one * node.min or nil
  end
  local all = 0
  for i, part in ipairs(node) do
    local one = length(part)
    if not one or (kind == "alt" and i > 1 and one ~= all) then return nil end
    all = kind == "alt" and one or all + one
  end
  return all
end

local function nullable(node)
  local kind = node.op
  if kind == "set" then return false end
  if kind == "assert" or kind == "look" or kind == "ref" then return true end
  if kind == "capture" or kind == "atomic" then return nullable(node.node) end
  if kind == "repeat" then return node.min == 0 or nullable(node.node) end
  if kind == "alt" then
    for _, part in ipairs(node) do
      if nullable(part) then return true end
    end
    return false
  end
  for _, part in ipairs(node) do
    if not nullable(part) then return false end
  end
  return true
end

-- Bytes it may begin with. → set, whether it may take none
local function first(node)
  local kind = node.op
  if kind == "set" then return node.set, false end
  if kind == "assert" or kind == "look" then return {}, true end
  if kind == "capture" or kind == "atomic" then return first(node.node) end
  if kind == "repeat" then
    if node.max == 0 then return {}, true end
    local set, none = first(node.node)
    return set, none or node.min == 0
  end
  local all, none = {}, kind == "cat"
  for _, part in ipairs(node) do
    local set, may = first(part)
    for b in pairs(set) do all[b] = true end
    if kind == "alt" then none = none or may
    elseif not may then return all, false end
  end
  return all, none
end

-- Whether it can begin at the begin of the text alone
local function anchored(node)
  local kind = node.op
  if kind == "assert" then return node.kind == "begin" end
  if kind == "capture" or kind == "atomic" then return anchored(node.node) end
  if kind == "alt" then
    for _, part in ipairs(node) do
      if not anchored(part) then return false end
    end
    return true
  end
  if kind == "repeat" then return node.min > 0 and anchored(node.node) end
  return kind == "cat" and node[1] ~= nil and anchored(node[1])
end

-- What a node comes to: instructions as `emit` puts them; copies and bytes as above, of the latter rather too many.
local size
-- Whether counts of a letter or class are one instruction, for both `size` and `emit`
local packed = false

local function size_of_repeat(node)
  local body, min, max = node.node, node.min, node.max
  local n, copies, bytes = size(body)
  local single, endless = body.op == "set", max == -1
  -- PCRE has a letter or a class with its count in one piece
  if single then
    bytes = bytes + 12
  else
    copies = (endless and 0 or max - min) + math.max(endless and min or max, 1) * copies
    bytes = math.max(endless and min or max, 1) * (bytes + 8)
  end
  if single and packed then
    n = 4
  elseif single and endless and node.mode ~= "lazy" then
    n = min + 1
  else
    if not endless then
      n = min * n + (max - min) * (1 + n)
    else
      n = math.max(min, 1) * n + (nullable(body) and 2 or 0) + (min > 0 and 1 or 2)
    end
    if node.mode == "possessive" then n, bytes = n + 2, bytes + 8 end
  end
  return n, copies, bytes
end

function size(node)
  local kind = node.op
  if kind == "set" then return 1, 0, node.plain and 2 or 35 end
  if kind == "assert" then return 1, 0, 1 end
  if kind == "ref" then return 1, 0, 5 end
  if kind == "repeat" then return size_of_repeat(node) end
  if kind == "cat" or kind == "alt" then
    local n, copies, bytes = kind == "alt" and 2 * (#node - 1) or 0, 0, 8
    for _, part in ipairs(node) do
      local more, again, of_it = size(part)
      n, copies, bytes = n + more, copies + again, bytes + of_it + 3
    end
    return n, copies, bytes
  end
  local n, copies, bytes = size(node.node)
  n, bytes = n + 2, bytes + 10
  if kind == "look" and not node.ahead then
    local branches = node.node.op == "alt" and node.node or { node.node }
    for _, branch in ipairs(branches) do
      if not length(branch) then refuse "it looks back an unknown way" end
    end
    n, bytes = n + #branches, bytes + 3 * #branches
  end
  return n, copies, bytes
end

-- tree: of regex/parse.lua. → instructions, copies, bytes; nil and why: PCRE would not take it, or it is too large
function M.size(tree)
  local ok, n, copies, bytes = pcall(size, tree.node)
  if not ok then return nil, type(n) == "table" and n.why or tostring(n) end
  n = n + 1
  if n > M.longest or copies > M.copies or bytes > M.bytes then return nil, M.too_large end
  return n, copies, bytes
end
M.too_large = "its counts write out to too much"

local function refers(node)
  if node.op == "ref" then return true end
  if node.node then return refers(node.node) end
  for _, part in ipairs(node) do
    if refers(part) then return true end
  end
  return false
end

-- Whether regex/run.lua can try what is too large for PCRE. tree: one that `size` finds too large
function M.fits_alone(tree)
  packed = true
  local ok, n = pcall(size, tree.node)
  packed = false
  return ok and n < M.stored and not refers(tree.node)
end

local emit

local function put(code, o, a, b)
  local at = code.n
  if at >= code.longest then refuse "too many instructions" end
  code.n = at + 1
  code[at] = { o, a or 0, b or 0, 0, code.round }
  return at
end
-- Where the run remembers that it has been here: a second time is in vain. Inside of loops that may go round on the spot what follows hangs
-- on how many of them have not moved yet, from the innermost out.
local function remember(code, at)
  code[at][4] = code.points
  code.points = code.points + 1 + (code.depth[code.round] or 0)
end

-- Byte sets stand once, however many copies of an instruction name them.
local function number_of(code, set)
  local known = code.known[set]
  if known then return known end
  local name = {}
  for b = 0, 255 do name[b + 1] = set[b] and "1" or "0" end
  name = table.concat(name)
  known = code.names[name]
  if not known then
    known = code.sets
    code.sets, code.names[name], code.members[known] = known + 1, known, set
  end
  code.known[set] = known
  return known
end

-- A round that took nothing is the last. once: it goes round before it may leave.
local function emit_loop(code, body, lazy, once)
  local outer, empty = code.round, nullable(body)
  local function split()
    local at = put(code, op.split)
    remember(code, at)
    return at
  end
  local first_split = not once and split()
  local begin, mark, unless = code.n, nil, nil
  if empty then
    mark = code.registers
    code.registers = mark + 1
    put(code, op.save, mark)
    code.depth[mark], code.outer[mark], code.round = (code.depth[outer] or 0) + 1, outer, mark
  end
  emit(code, body)
  code.round = outer
  if empty then unless = put(code, op.unless, mark) end
  local again = once and split() or put(code, op.jump, first_split)
  local leave = code.n
  if unless then code[unless][3] = leave end
  local at = first_split or again
  if lazy then code[at][2], code[at][3] = leave, begin else code[at][2], code[at][3] = begin, leave end
end

-- So many copies; of a letter or class in one instruction
local function emit_copies(code, body, times)
  if body.op == "set" and times > 1 then return put(code, op.run, number_of(code, body.set), times) end
  local before = code.n
  if times > 0 then emit(code, body) end
  -- Nothing as often as one likes is nothing; only what is put down has a bound.
  for _ = 2, code.n > before and times or 1 do emit(code, body) end
end

-- A letter or class with its count: what may follow in one as well
local function emit_packed(code, node)
  local body, min, max = node.node, node.min, node.max
  local set = number_of(code, body.set)
  if max == -1 and node.mode == "lazy" then
    emit_copies(code, body, min - 1)
    return emit_loop(code, body, true, min > 0)
  end
  emit_copies(code, body, min)
  if max == -1 then
    remember(code, put(code, op.loop, set))
  elseif max > min then
    remember(code, put(code, node.mode == "lazy" and op.few or op.span, set, max - min))
  end
end

-- min copies, then what may follow: up to max, or without end
local function emit_repeat(code, node)
  local body, mode = node.node, node.mode
  if mode == "possessive" then
    if body.op ~= "set" or node.max ~= -1 then
      return emit(code, { op = "atomic", node = { op = "repeat", node = body, min = node.min, max = node.max, mode = "greedy" } })
    end
    emit_copies(code, body, node.min)
    put(code, op.eat, number_of(code, body.set))
    return
  end
  if packed and body.op == "set" then return emit_packed(code, node) end
  local without_end = node.max == -1
  if without_end and body.op == "set" and mode == "greedy" then
    emit_copies(code, body, node.min)
    remember(code, put(code, op.loop, number_of(code, body.set)))
    return
  end
  emit_copies(code, body, without_end and node.min - 1 or node.min)
  if without_end then return emit_loop(code, body, mode == "lazy", node.min > 0) end
  local splits = {}
  for _ = 1, node.max - node.min do
    local split = put(code, op.split)
    remember(code, split)
    splits[#splits + 1] = split
    emit(code, body)
  end
  for _, split in ipairs(splits) do
    if mode == "lazy" then code[split][2], code[split][3] = code.n, split + 1 else code[split][2], code[split][3] = split + 1, code.n end
  end
end

local function emit_alt(code, branches, each)
  local jumps = {}
  for i, branch in ipairs(branches) do
    local split
    if i < #branches then
      split = put(code, op.split)
      remember(code, split)
    end
    each(branch)
    if split then
      jumps[#jumps + 1] = put(code, op.jump)
      code[split][2], code[split][3] = split + 1, code.n
    end
  end
  for _, jump in ipairs(jumps) do code[jump][2] = code.n end
end

-- An inner run: from behind this instruction to its `done`
local function emit_inner(code, kind, flag, inner)
  local at = put(code, kind, 0, flag)
  remember(code, at)
  inner()
  put(code, op.done)
  code[at][2] = code.n
end

local function emit_behind(code, branch)
  local bytes = length(branch) or refuse "it looks back an unknown way"
  put(code, op.back, bytes)
  emit(code, branch)
end

function emit(code, node)
  local kind = node.op
  if kind == "set" then put(code, op.set, number_of(code, node.set))
  elseif kind == "assert" then put(code, op.assert, M.asserts[node.kind])
  elseif kind == "cat" then
    for _, part in ipairs(node) do emit(code, part) end
  elseif kind == "alt" then
    emit_alt(code, node, function(branch) emit(code, branch) end)
  elseif kind == "capture" then
    put(code, op.save, 2 * node.n)
    emit(code, node.node)
    put(code, op.save, 2 * node.n + 1)
  elseif kind == "repeat" then emit_repeat(code, node)
  elseif kind == "ref" then refuse "what refers back"
  elseif kind == "atomic" then
    emit_inner(code, op.atomic, 0, function() emit(code, node.node) end)
  else
    emit_inner(code, op.look, node.negative and 1 or 0, function()
      if node.ahead then return emit(code, node.node) end
      if node.node.op ~= "alt" then return emit_behind(code, node.node) end
      emit_alt(code, node.node, function(branch) emit_behind(code, branch) end)
    end)
  end
end

local function build(tree, longest)
  local code = { n = 0, longest = longest, points = 0, sets = 0, known = {}, names = {}, members = {}, registers = 2 * (tree.captures + 1), round = 0, depth = {}, outer = {} }
  emit(code, tree.node)
  put(code, op.done)
  local n = code.n
  local program = {
    n = n,
    points = code.points,
    registers = code.registers,
    captures = tree.captures,
    anchored = anchored(tree.node),
    op = ffi.new("uint8_t[?]", n),
    a = ffi.new("int32_t[?]", n),
    b = ffi.new("int32_t[?]", n),
    point = ffi.new("int32_t[?]", n),
    -- register of the innermost loop around that may go round on the spot, or 0; and of the one around that
    round = ffi.new("int32_t[?]", n),
    outer = ffi.new("int32_t[?]", code.registers),
    sets = ffi.new("uint8_t[?]", math.max(1, code.sets) * 256),
  }
  for i = 0, n - 1 do
    local one = code[i]
    program.op[i], program.a[i], program.b[i], program.point[i] = one[1], one[2], one[3], one[4]
    program.round[i] = one[5]
  end
  for mark, outer in pairs(code.outer) do program.outer[mark] = outer end
  for number, set in pairs(code.members) do
    for b in pairs(set) do program.sets[number * 256 + b] = 1 end
  end
  local begins, none = first(tree.node)
  if not none then
    program.first = ffi.new "uint8_t[256]"
    for b in pairs(begins) do program.first[b] = 1 end
  end
  return program
end

-- tree: of regex/parse.lua; alone: it fits alone, as above. → program; nil and why: it is too large, or refers back, and then nobody may try
-- it on a long text
function M.of(tree, alone)
  packed = alone or false
  local ok, made = pcall(build, tree, alone and M.stored or M.longest)
  packed = false
  if ok then return made end
  return nil, type(made) == "table" and made.why or tostring(made)
end

return M
