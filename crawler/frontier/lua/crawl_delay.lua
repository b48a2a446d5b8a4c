#!lua flags=allow-oom
-- Notes the delay that a host's robots.txt asks for; it counts from the host's next claim on. Sent by who holds a turn
-- of the host.
--
-- ARGV: host, delay in ms (0: robots.txt asks for none).
-- Returns 1; or 0 when nothing is known of the host's turns any more: then the next holder of one sends it again.

local host, delay_text = ARGV[1], ARGV[2]
if call('EXISTS', turn .. host) == 0 then return 0 end
if delay_text == '0' then call('HDEL', turn .. host, 'r') else call('HSET', turn .. host, 'r', delay_text) end
return 1
