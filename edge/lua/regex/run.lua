-- Finds a match as PCRE would, in bounded steps: it tries the same ways in the same order, but goes none a second time. What comes of an
-- instruction at a place of the text hangs on nothing else (nothing refers back; how loops that took nothing end is told apart), so whoever
-- comes there again has failed already. So an expression costs at most its choices times the text, where PCRE's steps may double with each letter.
local ffi = require "ffi"
local program = require "regex.program"
local op, asserts = program.op, program.asserts

local M = {
  -- Steps of one search; a step is 5 to 50 ns
  steps = 400000,
}

local SET, SPLIT, JUMP, SAVE, ASSERT, LOOK, ATOMIC, DONE = op.set, op.split, op.jump, op.save, op.assert, op.look, op.atomic, op.done
local LOOP, UNLESS, BACK, EAT = op.loop, op.unless, op.back, op.eat
local RUN, SPAN, FEW = op.run, op.span, op.few
local BEGIN, END, LAST, WORD, INSIDE, LINE_BEGIN = asserts["begin"], asserts["end"], asserts.last, asserts.word, asserts.inside, asserts["line begin"]

-- Choices times places that are remembered, and ways that wait: of 4 bytes each
local marks_max, stack_max = 2 ^ 21, 2 ^ 20
local marks_size, stack_size = 2 ^ 14, 2 ^ 12
local marks, stack = ffi.new("int32_t[?]", marks_size), ffi.new("int32_t[?]", stack_size)
-- What was remembered in a search before says nothing.
local search = 0
local registers = ffi.new "int32_t[1024]"
local left = 0
-- Results that are no place
local FAILED, GIVEN_UP = -1, -2

local word = ffi.new "uint8_t[256]"
for b = 0, 255 do word[b] = string.char(b):find "[%w_]" and 1 or 0 end

local function holds(kind, text, at, n)
  if kind == BEGIN then return at == 0 end
  if kind == END then return at == n end
  if kind == LAST then return at == n or (at == n - 1 and text[at] == 10) end
  if kind == WORD or kind == INSIDE then
    local is = (at > 0 and word[text[at - 1]] or 0) ~= (at < n and word[text[at]] or 0)
    return is == (kind == WORD)
  end
  if kind == LINE_BEGIN then return at == 0 or (at < n and text[at - 1] == 10) end
  return at == n or text[at] == 10
end

-- Loops around, from the innermost out, whose present round has taken nothing yet
local function unmoved(round, outer, at)
  local count = 0
  while round ~= 0 and registers[round] == at do
    count, round = count + 1, outer[round]
  end
  return count
end

local function next_search()
  if search == 0x7fffffff then
    ffi.fill(marks, marks_size * 4)
    search = 0
  end
  search = search + 1
  return search
end

-- Takes back what was saved since the stack was so high. keep: what an inner run saved stays until its way is given up
local function close(top, base, keep)
  if keep then
    local kept = base
    for i = base, top - 2, 2 do
      if stack[i] < 0 then
        stack[kept], stack[kept + 1] = stack[i], stack[i + 1]
        kept = kept + 2
      end
    end
    return kept
  end
  for i = top - 2, base, -2 do
    if stack[i] < 0 then registers[-stack[i] - 1] = stack[i + 1] end
  end
  return base
end

local function grow(top)
  if top + 4 < stack_size then return true end
  if stack_size * 2 > stack_max then return false end
  local larger = ffi.new("int32_t[?]", stack_size * 2)
  ffi.copy(larger, stack, stack_size * 4)
  stack, stack_size = larger, stack_size * 2
  return true
end

-- From an instruction at a place until `done`. base: height of the stack. → place, height; FAILED or GIVEN_UP
local function run(p, text, n, pc, at, base, id)
  local ops, as, bs, points, sets, rounds, outer = p.op, p.a, p.b, p.point, p.sets, p.round, p.outer
  local width, top = n + 1, base
  local steps = left
  while true do
    steps = steps - 1
    if steps < 0 then
      left = 0
      return GIVEN_UP, top
    end
    local o, failed = ops[pc], false
    if o == SET then
      if at < n and sets[as[pc] * 256 + text[at]] == 1 then
        at, pc = at + 1, pc + 1
      else
        failed = true
      end
    elseif o == LOOP then
      local mark = (rounds[pc] == 0 and points[pc] or points[pc] + unmoved(rounds[pc], outer, at)) * width + at
      if marks[mark] == id then
        failed = true
      else
        marks[mark] = id
        if at < n and sets[as[pc] * 256 + text[at]] == 1 then
          if top + 4 >= stack_size and not grow(top) then return GIVEN_UP, top end
          stack[top], stack[top + 1] = pc + 1, at
          top, at = top + 2, at + 1
        else
          pc = pc + 1
        end
      end
    elseif o == SPLIT then
      local mark = (rounds[pc] == 0 and points[pc] or points[pc] + unmoved(rounds[pc], outer, at)) * width + at
      if marks[mark] == id then
        failed = true
      else
        marks[mark] = id
        if top + 4 >= stack_size and not grow(top) then return GIVEN_UP, top end
        stack[top], stack[top + 1] = bs[pc], at
        top, pc = top + 2, as[pc]
      end
    elseif o == SPAN or o == FEW then
      local mark = (rounds[pc] == 0 and points[pc] or points[pc] + unmoved(rounds[pc], outer, at)) * width + at
      if marks[mark] == id then
        failed = true
      else
        marks[mark] = id
        local set, to = as[pc] * 256, math.min(n, at + bs[pc])
        local reach = at
        while reach < to and sets[set + text[reach]] == 1 do reach = reach + 1 end
        steps = steps - (reach - at)
        while top + 2 * (reach - at) + 4 >= stack_size do
          if not grow(stack_size) then return GIVEN_UP, top end
        end
        -- each place it may end at is a way, the last put down the first to be tried
        if o == SPAN then
          for place = at, reach - 1 do
            stack[top], stack[top + 1] = pc + 1, place
            top = top + 2
          end
          at = reach
        else
          for place = reach, at + 1, -1 do
            stack[top], stack[top + 1] = pc + 1, place
            top = top + 2
          end
        end
        pc = pc + 1
      end
    elseif o == RUN then
      local set, to = as[pc] * 256, at + bs[pc]
      if to > n then
        failed = true
      else
        local from = at
        while at < to and sets[set + text[at]] == 1 do at = at + 1 end
        steps = steps - (at - from)
        if at < to then failed = true else pc = pc + 1 end
      end
    elseif o == JUMP then
      pc = as[pc]
    elseif o == SAVE then
      if top + 4 >= stack_size and not grow(top) then return GIVEN_UP, top end
      local register = as[pc]
      stack[top], stack[top + 1] = -register - 1, registers[register]
      registers[register] = at
      top, pc = top + 2, pc + 1
    elseif o == ASSERT then
      if holds(as[pc], text, at, n) then pc = pc + 1 else failed = true end
    elseif o == UNLESS then
      if registers[as[pc]] == at then pc = bs[pc] else pc = pc + 1 end
    elseif o == EAT then
      local set = as[pc] * 256
      while at < n and sets[set + text[at]] == 1 do at, steps = at + 1, steps - 1 end
      pc = pc + 1
    elseif o == BACK then
      if at < as[pc] then failed = true else at, pc = at - as[pc], pc + 1 end
    elseif o == DONE then
      left = steps
      return at, top
    else
      local mark = (rounds[pc] == 0 and points[pc] or points[pc] + unmoved(rounds[pc], outer, at)) * width + at
      if marks[mark] == id then
        failed = true
      else
        marks[mark] = id
        left = steps
        local to, high = run(p, text, n, pc + 1, at, top, next_search())
        steps = left
        if to == GIVEN_UP then return GIVEN_UP, top end
        if o == ATOMIC then
          if to == FAILED then
            failed = true
          else
            top, at, pc = close(high, top, true), to, as[pc]
          end
        elseif (to ~= FAILED) == (bs[pc] == 1) then
          if to ~= FAILED then close(high, top) end
          failed = true
        else
          if to ~= FAILED then top = close(high, top, true) end
          pc = as[pc]
        end
      end
    end
    if failed then
      while true do
        if top == base then
          left = steps
          return FAILED, base
        end
        top = top - 2
        local way = stack[top]
        if way >= 0 then
          pc, at = way, stack[top + 1]
          break
        end
        registers[-way - 1] = stack[top + 1]
      end
    end
  end
end

-- p: of regex/program.lua. → place of the match and its end, both from 0 on; false: there is none; nil: it would take too long
function M.find(p, subject)
  local n = #subject
  local size = p.points * (n + 1)
  if size > marks_max or p.registers > 1024 then return nil end
  if size > marks_size then
    while marks_size < size do marks_size = marks_size * 2 end
    marks, search = ffi.new("int32_t[?]", marks_size), 0
  end
  local text = ffi.cast("const uint8_t *", subject)
  for i = 0, p.registers - 1 do registers[i] = -1 end
  left = M.steps
  local id, begins = next_search(), p.first
  for from = 0, p.anchored and 0 or n do
    if not begins or (from < n and begins[text[from]] == 1) then
      local to = run(p, text, n, 0, from, 0, id)
      if to == GIVEN_UP then return nil end
      if to ~= FAILED then return from, to end
    end
  end
  return false
end

-- Of the match that `find` just found. → {[0] = all of it, [1] = … or false}
function M.captures(p, subject, from, to)
  local found = { [0] = subject:sub(from + 1, to) }
  for i = 1, p.captures do
    local begin, finish = registers[2 * i], registers[2 * i + 1]
    found[i] = begin >= 0 and finish >= begin and subject:sub(begin + 1, finish)
  end
  return found
end

return M
