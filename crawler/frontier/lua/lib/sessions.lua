-- What a Redis that was away, or whose clock was set, must not do to the sessions of living workers.
--
-- Gives the scripts: `spare_sessions`.
--
-- Every living worker renews its session several times within the session's length. So where nobody has renewed one for
-- more than half of that length, it isn't single workers that fell silent: either Redis was away, or its clock was set
-- forward, or no worker is alive at all. Then every deadline is moved once, and the living have time to renew theirs.

-- Moves the deadlines of all sessions to a session's length from now, if nobody has renewed one for too long. One that
-- was moved already, and that its owner hasn't renewed since, stays: the owner is dead. Reads and writes `sessions` and
-- `spared`.
local function spare_sessions()
  if not renewed_at or now - renewed_at <= session_length / 2 then return end
  local entries, moved, deadline = call('ZRANGE', sessions, 0, -1, 'WITHSCORES'), {}, now + session_length
  for i = 1, #entries, 2 do
    local owner, old_deadline = entries[i], tonumber(entries[i + 1])
    if old_deadline < deadline and call('SADD', spared, owner) == 1 then
      moved[#moved + 1] = text(deadline)
      moved[#moved + 1] = owner
    end
  end
  write_all('ZADD', sessions, moved)
end
