#!lua flags=allow-oom
-- Borrows a turn of a host for one request that no seed stands for (media on another host). Given back through settle.lua.
--
-- ARGV: owner, host, site, serial number of the call.
-- Returns {token, delay in ms}, or {0, ms until it is worth asking again}; {-1, 0} without a session; {-2, ms} while the host
-- wants to be left alone.

local owner, host, site, serial = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local deadline = call('ZSCORE', sessions, owner)
if not deadline or tonumber(deadline) < now then return { -1, 0 } end
if serial <= tonumber(call('GET', fence .. owner) or '0') then return { 0, 0 } end -- given up while it was on its way
local state = turns_of(host)
add_site(state, host, site)
local delay, concurrency = politeness_of(state)
local free, next_ms = free_turns(state, concurrency)
if #free == 0 then
  ask_in_vain(state, host, 'borrow')
  local left_alone_ms = tonumber(state.x or '0') - now
  if left_alone_ms > 0 then return { -2, left_alone_ms } end
  return { 0, next_ms - now }
end
return { tonumber(take_turn(state, host, owner, serial, free[1], 'borrow')), delay }
