-- An expression as every PCRE2 reads it. Up to 10.44 a hyphen behind a class within brackets is itself, `[\w-.]`, as people write it and as
-- Perl has it; from 10.45 on (Debian 13) "invalid range in character class" is said of the whole. Escaped it is itself to both.
local byte, find, sub = string.byte, string.find, string.sub

local backslash, open, close, hyphen, caret = byte("\\[]-^", 1, 5)

-- at: behind "[". → where the brackets end (at "]"); their text is put into `out`
local function brackets(text, at, out)
  local first, after_class = at, false
  if byte(text, at) == caret then first = at + 1 end
  local from = at
  at = first
  while at <= #text do
    local c = byte(text, at)
    if c == close and at > first then break end
    local was_class = after_class
    after_class = false
    if c == backslash then
      after_class = find(text, "^[dDwWsShHvV]", at + 1) ~= nil
      at = at + 2
    elseif c == open and find(text, "^%[:%^?%a+:%]", at) then
      at = select(2, find(text, ":]", at, true)) + 1
    else
      if c == hyphen and was_class and byte(text, at + 1) ~= close then
        out[#out + 1] = sub(text, from, at - 1)
        out[#out + 1] = "\\"
        from = at
      end
      at = at + 1
    end
  end
  out[#out + 1] = sub(text, from, at)
  return at
end

return function(text)
  if not find(text, "\\[dDwWsShHvV]%-") or find(text, "\\Q", 1, true) then return text end
  local out, from, at = {}, 1, 1
  while at <= #text do
    local c = byte(text, at)
    if c == backslash then
      at = at + 2
    elseif c == open then
      out[#out + 1] = sub(text, from, at)
      at = brackets(text, at + 1, out) + 1
      from = at
    else
      at = at + 1
    end
  end
  out[#out + 1] = sub(text, from)
  return table.concat(out)
end
