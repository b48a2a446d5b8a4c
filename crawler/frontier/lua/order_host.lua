#!lua flags=allow-oom
-- Needs: keys, values, clock, turns, next_starts, order, hosts.
--
-- Notes what operators want of a host: a delay between two requests to it, whoever asks, or no request at all for now;
-- or that its errors are forgotten. Where its site or robots.txt asks for a longer delay, that one counts.
--
-- ARGV: wake channel, the other frontier's; host; delay in ms ('0': none, '': as it is); '1': the host is paused, '0':
--   it isn't ('': as it is); '1': forget that it fails, and the backoff it has ('0': don't).
-- Returns {delay in ms (0: none), 1 where it is paused}, as operators want it from now on; or {-1, 0} where they want
--   something of MAX_ORDERS other hosts in this partition: then nothing was done.

local MAX_ORDERS = 1000 -- most hosts with orders, which take some 100 kB; whole sites are slowed down in their files

local channel, other_channel, host, delay_text, paused_text, forget_text = unpack(ARGV)
local host_turns = turns_of(host)
local delay_before = politeness_of(host_turns)

local stored = call('HGET', host_orders, host)
local delay, is_paused = heed_order(host_turns, stored)
if delay_text ~= '' then delay = tonumber(delay_text) end
if paused_text ~= '' then is_paused = paused_text == '1' end
local entry = text(delay) .. (is_paused and ' 1' or ' 0')
if entry == '0 0' then
  call('HDEL', host_orders, host)
elseif not stored and call('HLEN', host_orders) >= MAX_ORDERS then
  return { -1, 0 }
else
  call('HSET', host_orders, host, entry)
end
heed_order(host_turns, entry)
move_next_starts(host_turns, delay_before)
if forget_text == '1' then
  for _, name in ipairs({ FIELD.backoff_ends, FIELD.error_level, FIELD.level_rose, FIELD.forgiven_left }) do
    if host_turns.fields[name] then delete_field(host_turns, name) end
  end
end

local is_ready, other_is_ready = update_host_in_both(host_turns) -- it may be claimed from sooner now
flush_hosts()
flush_turns()
for _, one in ipairs({ channel, other_channel }) do call('PUBLISH', one, 'politeness ' .. host) end
if is_ready and not is_paused then announce_turn(channel, wake_pause) end
if other_is_ready and not is_paused then announce_turn(other_channel, other_wake_pause) end
return { delay, is_paused and 1 or 0 }
