#!lua flags=allow-oom
-- Needs: keys, values, clock, turns, order.
--
-- Tells how a host stands: its seeds, its turns and how politely it is asked. Writes nothing.
--
-- ARGV: host.
-- Returns {the time by the partition's clock, in ms since the epoch; the delay in force, in ms; how many turns the host
--   has; how many of them are free now; when the next one may be acquired; the fields of its turns, as a flat list;
--   what operators want of it, as `host_orders` has it; then of this frontier and of the other one: how many seeds of
--   it are ready, when the first one is due (0: there is none)}.

local host = ARGV[1]
local host_turns = turns_of(host)
local delay, concurrency = politeness_of(host_turns)
local free, next_start = free_turns(host_turns, concurrency)
local flat = {}
for name, value in pairs(host_turns.fields) do
  flat[#flat + 1] = name
  flat[#flat + 1] = value
end

return {
  now, delay, concurrency, #free, next_start, flat, call('HGET', host_orders, host) or '',
  call('ZCARD', ready .. host), first_due(ready, host) or 0,
  call('ZCARD', other_ready .. host), first_due(other_ready, host) or 0,
}
