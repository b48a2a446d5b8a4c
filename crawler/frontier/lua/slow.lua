#!lua flags=allow-oom
-- Notes the least delay that a host's robots.txt asks for, from its next claim on. Called while a turn of the host is held.
--
-- ARGV: host, delay in ms (0: it asks for none).
-- Returns 1, or 0 when the host has no turns in memory: the next who holds one will say it again.

local host, delay = ARGV[1], ARGV[2]
if call('EXISTS', turn .. host) == 0 then return 0 end
if delay == '0' then call('HDEL', turn .. host, 'r') else call('HSET', turn .. host, 'r', delay) end
return 1
