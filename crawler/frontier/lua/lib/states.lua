-- How seeds become ready, failed and forgotten, and what is known of those whose workers died.
--
-- Gives the scripts: `SUSPECTED`, `SUSPECTED_BEGUN`, `IS_OF_PLANS`, `book_ready`, `make_ready`, `make_failed`,
-- `find_waiting`, `take_out`, `withdraw`, `forget_seed`.
--
-- A number in the hash `crashes` tells which seeds may kill workers:
--   absent           No worker died while it held the seed.
--   SUSPECTED        A worker died while it held the seed. It held others, too, so the seed is claimed like any other.
--   SUSPECTED_BEGUN  So it was, and its next worker has begun to fetch it. Should that one die as well, the seed is
--                    quarantined.
--   0 and more       The seed is quarantined: a worker gets it only when it holds nothing else. The number of those
--                    that died since.
-- A worker that survives the seed ends all suspicion: settle.lua deletes the field.

local SUSPECTED = -2
local SUSPECTED_BEGUN = -1

-- Reasons for which a page fails for the plans that it was visited for, and says nothing of the page to any other plan:
-- it is about how they came to it, about their words, their scope, budget or traps, or whether they heed what it asks
-- of robots (crawler/base/reasons.py).
-- `cancelled` isn't among them: such a seed is new even to the plan that it failed for, once that goes on (offer.lua).
local IS_OF_PLANS = setmetatable({ ['out-of-scope'] = true, ['lacks-words'] = true, noindex = true }, {
  __index = function(_, reason)
    return string.match(reason, '^scope%-') or string.match(reason, '^budget%-') or string.match(reason, '^trap%-')
  end,
})

-- Books a seed in or out of ready (by = 1 or -1); a scheduled one that was visited before is also counted as waiting,
-- since it does not keep a crawl going. Reads `scheduled`.
local function book_ready(fingerprint, kinds, by)
  book_all(kinds, 'ready', by)
  if kinds[1].interval > 0 and call('SISMEMBER', scheduled, fingerprint) == 1 then book(kinds[1], 'waiting', by) end
end

-- Puts a seed where claims find it: in `quarantine`, or in ready:HOST with its host in `hosts`. Reads `crashes`.
-- `value`, `further`: what `seed` and `also` hold of it, which say what comes before it once it is due. What needs no
-- fetch keeps nobody waiting: that goes by time alone.
local function make_ready(fingerprint, host, kinds, due, value, further)
  book_ready(fingerprint, kinds, 1)
  local crashed = call('HGET', crashes, fingerprint)
  if crashed and tonumber(crashed) >= 0 then call('ZADD', quarantine, due, fingerprint); return end
  local first = first_due(ready, host)
  local is_ranked = due <= now and host ~= DELIVERED
  local score = is_ranked and order.score_of(order.rank_of(value, further), due) or due
  call('ZADD', ready .. host, text(score), fingerprint)
  if not first or due < first then place_host_no_later(hosts, host, math.max(due, now)) end
end

-- Ends a seed for good as failed, for all plans that want it; it stays known. Writes `fail` and `reasons`, deletes from
-- `tries` and `crashes`.
local function make_failed(fingerprint, kinds, reason)
  call('ZADD', fail, now_text, fingerprint)
  call('HSET', reasons, fingerprint, reason)
  call('HDEL', tries, fingerprint)
  call('HDEL', crashes, fingerprint)
  book_all(kinds, 'failed', 1)
  book_all(kinds, 'failed:' .. reason, 1)
end

-- Returns when a seed that nobody holds is due, and whether it is parked. Reads ready:HOST, `quarantine` and `parked`.
local function find_waiting(fingerprint, host)
  local due = call('ZSCORE', parked, fingerprint)
  if due then return tonumber(due), true end
  local score = call('ZSCORE', ready .. host, fingerprint) or call('ZSCORE', quarantine, fingerprint)
  return order.due_of(tonumber(score or now)), false
end

-- Takes a seed out of ready:HOST or `quarantine`, where claims find it. A host without ready seeds leaves `hosts`. The
-- caller books it.
local function take_out(fingerprint, host)
  call('ZREM', ready .. host, fingerprint)
  call('ZREM', quarantine, fingerprint)
  if call('EXISTS', ready .. host) == 0 then call('ZREM', hosts, host) end
end

-- Takes a seed that nobody holds out of wherever it waits, be it `parked`, and out of that count. The caller says what
-- becomes of the seed.
local function withdraw(fingerprint, host, kinds)
  take_out(fingerprint, host)
  if call('ZREM', parked, fingerprint) == 1 then
    book_all(kinds, 'parked', -1)
  else
    book_ready(fingerprint, kinds, -1)
  end
end

-- Forgets a seed that is in no state any more: it may be offered again.
local function forget_seed(fingerprint, kinds)
  for _, key in ipairs({ seed, also, tries, reasons, crashes }) do call('HDEL', key, fingerprint) end
  call('SREM', scheduled, fingerprint)
  for _, kind in ipairs(kinds) do call('SREM', wanted .. kind.plan, fingerprint) end
end
