#!lua flags=allow-oom
-- Needs: values.
--
-- Returns how many entries some sets or sorted sets of the partition hold together, for a recount.
--
-- ARGV: SCARD or ZCARD; then the names of keys.

local entries = 0
for i = 2, #ARGV do entries = entries + call(ARGV[1], ARGV[i]) end
return entries
