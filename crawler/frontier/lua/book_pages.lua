#!lua flags=allow-oom
-- Needs: values, held_pages.
--
-- Books what pages of a plan used of its budget, as their settlements have said. What was booked before isn't in flight
-- for that claim any more, and changes nothing.
--
-- KEYS: as in lib/held_pages.lua.
-- ARGV: for each page: fingerprint; claim; 1 if it was used, 0 if it is given back; items; bytes
-- Returns 0.

local WORDS = 5 -- how many of ARGV each page takes

for at = 1, #ARGV, WORDS do
  local fingerprint, claim, pages, items, bytes = unpack(ARGV, at, at + WORDS - 1)
  local holder, entry = holder_of(fingerprint)
  if holder == claim then
    let_go(fingerprint, entry, pages == '1')
    increment(plan_budget, 'items', items)
    increment(plan_budget, 'bytes', bytes)
  end
end
return 0
