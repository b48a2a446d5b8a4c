-- What a Redis that was away, or whose clock was set, must not do to the sessions of living workers.
--
-- Gives the scripts: `spare_sessions`.
--
-- Every living worker renews its session several times within the session's length. So where nobody has renewed one for
-- more than half of that length, it isn't single workers that fell silent: either Redis was away, or its clock was set
-- forward, or no worker is alive at all. Then every deadline is moved once, and the living have time to renew theirs.

-- Moves the deadlines of all sessions to a session's length from now, if nobody has renewed one for too long. One that
-- was moved already, and that its owner hasn't renewed since, stays: the owner is dead. When the clock was set back,
-- deadlines that are too far ahead are moved back. Reads `renewed`; reads and writes `sessions` and `spared`.
local function spare_sessions()
  local at, length = string.match(call('GET', renewed) or '', '^(%d+) (%d+)$')
  if not at then return end
  local silent_ms, session_ms = now - tonumber(at), tonumber(length)
  if silent_ms >= 0 and silent_ms <= session_ms / 2 then return end
  local entries, moved, deadline = call('ZRANGE', sessions, 0, -1, 'WITHSCORES'), {}, now + session_ms
  for i = 1, #entries, 2 do
    local owner, old_deadline = entries[i], tonumber(entries[i + 1])
    local is_too_late = silent_ms < 0 and old_deadline > deadline
    if is_too_late or silent_ms > 0 and old_deadline < deadline and call('SADD', spared, owner) == 1 then
      moved[#moved + 1] = text(deadline)
      moved[#moved + 1] = owner
    end
  end
  write_all('ZADD', sessions, moved)
end
