#!lua flags=allow-oom
-- Needs: keys, values, clock, fence, turns, waiting.
--
-- Acquires a turn of a host for one request that no seed stands for (robots.txt, media on another host), or a turn of
-- an address that has a budget (`@ADDRESS`). It is released through settle.lua.
--
-- ARGV: owner; host, or `@ADDRESS`; site; serial number of the call;
--   for an address also: how many turns it has, and ms between two starts on any of them.
-- Returns {state, token, delay in ms, ms until it is worth asking again}, 0 for what doesn't apply. State: 'acquired',
-- 'busy', 'lapsed' (the owner has no session) or 'backoff' (the host has one, or operators have paused it).

local owner, host, site, serial = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local address_turns, address_delay_text = tonumber(ARGV[5] or '0'), ARGV[6]
local is_address = address_turns > 0

local deadline = call('ZSCORE', sessions, owner)
if not deadline or tonumber(deadline) < now then return { 'lapsed', 0, 0, 0 } end
if is_void(owner, serial) then return { 'busy', 0, 0, 0 } end

local host_turns = turns_of(host)
local fields = host_turns.fields
local delay, concurrency
if is_address then -- its delay is noted for whoever reclaims its turns
  delay, concurrency = tonumber(address_delay_text), address_turns
  if fields[FIELD.robots_delay] ~= address_delay_text then
    set_field(host_turns, FIELD.robots_delay, address_delay_text)
  end
else
  add_site(host_turns, site)
  delay, concurrency = politeness_of(host_turns)
end

local free, next_start = free_turns(host_turns, concurrency)
if #free == 0 and free_ownerless_turns(host_turns) then free, next_start = free_turns(host_turns, concurrency) end
if #free == 0 then
  note_waiting(host_turns, SEEDLESS)
  flush_turns()
  local backoff_ms = fields[FIELD.paused] and TURN_IDLE_MS or tonumber(fields[FIELD.backoff_ends] or '0') - now
  if backoff_ms > 0 then return { 'backoff', 0, 0, backoff_ms } end
  return { 'busy', 0, 0, next_start - now }
end
local token = acquire_turn(host_turns, owner, serial, free[1], SEEDLESS)
if is_address and delay > 0 then set_field(host_turns, FIELD.backoff_ends, text(now + delay)) end
flush_turns()
return { 'acquired', tonumber(token), delay, 0 }
