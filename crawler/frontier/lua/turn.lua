-- Borrows a turn of a host for one request that no seed stands for (media on another host). Given back through settle.lua.
--
-- ARGV: owner, host, site.
-- Returns {turn, delay in ms}, or {0, ms until it is worth asking again}; {-1, 0} without a session.

local owner, host, site = ARGV[1], ARGV[2], ARGV[3]
if not call('ZSCORE', sessions, owner) then return { -1, 0 } end
local state = turns_of(host)
add_site(state, host, site)
local delay, concurrency = politeness_of(state)
local free, next_ms = free_turns(state, concurrency)
if #free == 0 then return { 0, next_ms - now } end
take_turn(state, host, owner, free[1])
return { free[1], delay }
