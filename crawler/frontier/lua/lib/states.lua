-- How seeds get from state to state.

local DOUBTED = -2           -- in place of crashes: a worker died with it, and perhaps for another seed's sake
local BEGUN = -1             -- likewise, and it has been begun again: should that worker die as well, it is a suspect

-- Books a seed in or out of ready (by = 1, -1). Re-runs of a schedule are also counted as waiting: they don't keep a crawl going.
local function book_ready(fp, kind, by)
  book(kind, 'ready', by)
  if kind.interval > 0 and call('SISMEMBER', scheduled, fp) == 1 then book(kind, 'waiting', by) end
end

-- Puts a seed where the next claim finds it. A doubted one is like any other; a suspect is claimed alone.
local function make_ready(fp, host, kind, due)
  book_ready(fp, kind, 1)
  local crashed = call('HGET', crashes, fp)
  if crashed and tonumber(crashed) >= 0 then call('ZADD', suspects, due, fp); return end
  local first = call('ZRANGE', ready .. host, 0, 0, 'WITHSCORES')
  call('ZADD', ready .. host, due, fp)
  if #first == 0 or due < tonumber(first[2]) then place(hosts, host, due, true) end
end

-- Ends a claim as if it had not been made; when the seed was due went with the answer, so it is due since the claim.
local function take_back(fp, value, owner)
  local host, kind = head(value)
  local claimed_at = tonumber(call('ZSCORE', execute, fp) or now)
  call('ZREM', execute, fp)
  call('HDEL', claims, fp)
  call('SREM', held .. owner, fp)
  book(kind, 'executing', -1)
  make_ready(fp, host, kind, claimed_at)
end

-- Ends a seed for good as failed; it stays known.
local function make_failed(fp, kind, reason)
  call('ZADD', fail, now_text, fp)
  call('HSET', reasons, fp, reason)
  call('HDEL', tries, fp)
  call('HDEL', crashes, fp)
  book(kind, 'failed', 1)
  book(kind, 'failed:' .. reason, 1)
end
