#!lua flags=allow-oom
-- Opens, renews or ends a worker's session: its lease on all that it holds in this partition.
--
-- ARGV: 'open', 'renew' or 'end'; owner; SESSION_SECONDS in ms.
-- Returns the time, in ms; or 0: 'renew' finds that the session was reclaimed (renewing late is fine as long as nobody took
-- over), 'end' that seeds or turns are still held (they are then reclaimed when the deadline has passed).

local what, owner, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
if what == 'end' then
  if call('EXISTS', held .. owner, other_held .. owner, turns .. owner) > 0 then return 0 end
  call('ZREM', sessions, owner)
  return now
end
if what == 'renew' and not call('ZSCORE', sessions, owner) then return 0 end
call('ZADD', sessions, now + ttl, owner)
return now
