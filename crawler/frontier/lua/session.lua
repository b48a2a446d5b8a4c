#!lua flags=allow-oom
-- Needs: keys, values, clock, sessions.
--
-- Opens, renews or ends the session of a worker or a command: its lease on all that it holds in this partition, in both
-- frontiers.
--
-- ARGV: 'open', 'renew' or 'end'; owner; SESSION_SECONDS in ms.
-- Returns the time, in ms; or 0: 'renew' finds that the session has lapsed and was reclaimed (a late renewal that finds
-- it is fine), or 'end' that the owner still holds seeds or turns, which are reclaimed when the session lapses.

local action, owner, session_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
spare_sessions()
if action == 'end' then
  if call('EXISTS', held .. owner, other_held .. owner, turns .. owner) > 0 then return 0 end
  call('ZREM', sessions, owner)
  call('HDEL', receipts, owner)
  call('SREM', spared, owner)
  return now
end
if action == 'renew' and not call('ZSCORE', sessions, owner) then return 0 end
call('ZADD', sessions, now + session_ms, owner)
note_renewed(session_ms)
call('SREM', spared, owner)
return now
