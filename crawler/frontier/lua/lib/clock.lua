-- The partition's clock, the only one by which its times are written and compared: workers' clocks may be wrong. It is
-- Redis's own, which may be set, or replaced by the clock of another node that takes over.
--
-- Gives the scripts: `now`, `now_s`, `now_text`, `renewed_at`, `session_length`, `note_renewed`.
--
-- The partition's clock doesn't go back. Otherwise all that waits would wait for as much longer as Redis's was set
-- back: hosts for their next start, seeds until they are due, what the dead held for their session to lapse. Each
-- renewal of a session notes the time. When Redis's clock is behind what was noted, the partition's stands still until
-- the next renewal and then goes on from there, so many ms ahead of Redis's. So a wait becomes longer by two pauses
-- between renewals at most. While it is ahead it goes a hundredth slower, so that in time both agree again.

local redis_time = call('TIME')
local redis_now = tonumber(redis_time[1]) * 1000 + math.floor(tonumber(redis_time[2]) / 1000)

-- When a session was last opened or renewed by anybody, and its length, in ms; nil where none was, or for junk.
-- `ahead`: of Redis's clock, then and now.
local renewed_at, session_length, ahead = string.match(call('GET', renewed) or '', '^(%d+) (%d+) (%d+)$')
if renewed_at then
  local AHEAD_MAX_MS = 315360000000 -- how far a clock may be ahead: what says more than ten years is junk
  local SLOWER_BY = 100 -- while it is ahead, the clock loses one ms in so many
  renewed_at, session_length, ahead = tonumber(renewed_at), tonumber(session_length), tonumber(ahead)
  local since = redis_now + ahead - renewed_at
  ahead = since < 0 and ahead - since or math.max(0, ahead - math.floor(since / SLOWER_BY))
  if ahead > AHEAD_MAX_MS then renewed_at, session_length, ahead = nil, nil, nil end
end
ahead = ahead or 0

local now = redis_now + ahead -- ms since the epoch
local now_s, now_text = math.floor(now / 1000), text(now)

-- Notes that a session of so many ms is opened or renewed now. Writes `renewed`.
local function note_renewed(session_ms)
  call('SET', renewed, now_text .. ' ' .. text(session_ms) .. ' ' .. text(ahead))
end
