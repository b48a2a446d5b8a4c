#!lua flags=allow-oom
-- Borrows a turn of a host for one request that no seed stands for (media on another host). Given back through settle.lua.
--
-- Of an address (`@ADDRESS`, host of no site) likewise, which has a budget of its own.
--
-- ARGV: owner, host, site, serial number of the call; of an address also its turns, and ms between two starts on any of them.
-- Returns {token, delay in ms}, or {0, ms until it is worth asking again}; {-1, 0} without a session; {-2, ms} while the host
-- wants to be left alone.

local owner, host, site, serial = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local deadline = call('ZSCORE', sessions, owner)
if not deadline or tonumber(deadline) < now then return { -1, 0 } end
if is_void(owner, serial) then return { 0, 0 } end
local state = turns_of(host)
local delay, concurrency = tonumber(ARGV[6] or '0'), tonumber(ARGV[5] or '0')
local is_address = concurrency > 0
if is_address then
  if state.r ~= ARGV[6] then put(state, 'r', ARGV[6]) end -- for who takes turns back from the dead
else
  add_site(state, site)
  delay, concurrency = politeness_of(state)
end
local free, next_ms = free_turns(state, concurrency)
if #free == 0 then
  ask_in_vain(state, 'borrow')
  turns_close()
  local left_alone_ms = tonumber(state.x or '0') - now
  if left_alone_ms > 0 then return { -2, left_alone_ms } end
  return { 0, next_ms - now }
end
local token = take_turn(state, owner, serial, free[1], 'borrow')
if is_address and delay > 0 then put(state, 'x', text(now + delay)) end
turns_close()
return { tonumber(token), delay }
