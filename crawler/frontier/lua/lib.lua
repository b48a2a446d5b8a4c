-- Shared by every script, put before it. Names the keys (frontier/keys.py documents them) and holds what two scripts need.
--
-- A host's turns, hash turn:HOST: hI = `OWNER TOKEN` of who holds turn I; nI = earliest next start of turn I, ms; x = no start
-- before, ms; r = least delay that robots.txt asks for, ms; s = names of the sites that crawl the host, "a,b" (the strictest
-- counts); l = who got a turn last: `nav`, `content` or `borrow`; wWHO = since when WHO has asked in vain, ms; e = level of the
-- errors it has answered with lately, none at 0; u = when that level rose last, ms.
-- A turn's token is SERIAL * 1000 + I: the serial number of the call that took it fences it, as a claim id fences a seed.
-- Redis TIME is the only clock. No script reads a seed's JSON: Lua's numbers lose digits.

local lock, hosts, ready, execute, claims, held, finish, fail, seed, tries, reasons, crashes, suspects, alone, scheduled,
  parked, counts, wake_pause, lapsed, followed, turn, turns, fence, sessions, paused, ledger, ledgers, politeness, other_hosts,
  other_ready, other_held, other_wake_pause, other_lapsed = unpack(KEYS)

local call = redis.call
-- Redis isn't trusted: what should be a number and is none counts as 0, so that junk stops no script.
local NUMBER_MAX = 2 ^ 53
local parsed = tonumber
local function tonumber(value)
  local number = parsed(value)
  if not number or number ~= number then return 0 end
  return math.max(-NUMBER_MAX, math.min(number, NUMBER_MAX))
end
local F = string.match(lock, ':(%a+):lock$')
local OTHER_F = F == 'nav' and 'content' or 'nav'
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local UNPACK_MAX = 4000      -- Lua's unpack ends near 8,000 values
local TURN_STEP = 1000       -- turns of a host are fewer
local TURN_IDLE_MS = 7200000 -- a host's turns are forgotten two hours after the last was given back: no delay is longer
local RECHECK_MS = 15000     -- all turns held: look again then, should their holder have died
local WANT_MS = 60000        -- who asked in vain is waited for no longer: it asks again, or has gone
local WAKE_PAUSE_MS = 200    -- between two announcements of freed turns
local DOUBTED = -2           -- in place of crashes: a worker died with it, and perhaps for another seed's sake
local BEGUN = -1             -- likewise, and it has been begun again: should that worker die as well, it is a suspect
local BUCKET_MAX = 120       -- of 128, where a listpack of 17 bytes an entry would become a skiplist of 37

-- Calls COMMAND KEY VALUES... in pieces that unpack can take.
local function many(command, key, values)
  for from = 1, #values, UNPACK_MAX do
    call(command, key, unpack(values, from, math.min(from + UNPACK_MAX - 1, #values)))
  end
end

-- HMGET in pieces; false where a field is missing.
local function hmget(key, fields)
  if #fields <= UNPACK_MAX then return #fields > 0 and call('HMGET', key, unpack(fields)) or {} end
  local all = {}
  for from = 1, #fields, UNPACK_MAX do
    for _, value in ipairs(call('HMGET', key, unpack(fields, from, math.min(from + UNPACK_MAX - 1, #fields)))) do all[#all + 1] = value end
  end
  return all
end

-- HOST, PLAN, SITE, INTERVAL_S of a stored seed; dashes of a damaged one, which its claimant will fail.
local function head(value)
  local host, plan, site, interval = string.match(value, '^(%S+) (%S+) (%S+) (%d+) ')
  return host or '-', plan or '-', site or '-', tonumber(interval or '0')
end

-- Adds to a number in a hash and returns the sum; one that is junk begins anew.
local function add(key, field, by)
  local sum = redis.pcall('HINCRBY', key, field, by)
  if type(sum) == 'number' then return sum end
  call('HSET', key, field, by)
  return by
end

-- The ledger: sums are kept here and written once, by book_close.
local books, totals = {}, {}
local function book(plan, site, state, by)
  local name = plan .. ':' .. site
  local page = books[name]
  if not page then page = {}; books[name] = page; call('SADD', ledgers, plan .. ' ' .. site) end
  page[state] = (page[state] or 0) + by
  totals[state] = (totals[state] or 0) + by
end
local function book_close()
  for name, page in pairs(books) do
    for state, by in pairs(page) do
      if by ~= 0 then add(ledger .. name, F .. ':' .. state, by) end
    end
  end
  for state, by in pairs(totals) do
    if by ~= 0 then add(counts, state, by) end
  end
end

-- Finished fingerprints lie in a trie of small zsets: bucket 1 is the root, a full bucket I becomes 2I and 2I+1. Fingerprints are
-- uniform, so all buckets are at nearly the same depth, and a guess from their number is rarely off by more than one.
local function bucket_at(fp, depth)
  local a, b, c, d = string.byte(fp, 1, 4)
  return 2 ^ depth + math.floor((((a * 256 + b) * 256 + c) * 256 + d) / 2 ^ (32 - depth))
end
local function bucket_key(index) return finish .. string.format('%.0f', index) end
local buckets_now -- read once a call, kept by add_finished
local function guess_depth()
  buckets_now = buckets_now or tonumber(call('HGET', counts, 'buckets') or '1')
  return buckets_now == 1 and 0 or math.max(1, math.min(math.floor(math.log(buckets_now) / math.log(2) + 0.5), 32))
end
-- The one bucket on the fingerprint's path that exists: looked for at the guess, then ever farther from it.
local function bucket_of(fp)
  local guess = guess_depth()
  if guess > 0 then
    for off = 0, 32 do
      for sign = 1, off == 0 and 1 or -1, -2 do
        local depth = guess + sign * off
        if depth >= 0 and depth <= 32 then
          local index = bucket_at(fp, depth)
          if call('EXISTS', bucket_key(index)) == 1 then return index, depth end
        end
      end
    end
  end
  return 1, 0
end
local function is_finished(fp)
  local index = bucket_of(fp)
  return call('ZSCORE', bucket_key(index), string.sub(fp, 1, 8)) ~= false
end
local function add_finished(fp)
  local index, found = bucket_of(fp)
  local key = bucket_key(index)
  call('ZADD', key, tonumber(time[1]), string.sub(fp, 1, 8))
  if call('ZCARD', key) > BUCKET_MAX and found < 32 then
    local members, halves = call('ZRANGE', key, 0, -1, 'WITHSCORES'), { {}, {} }
    for i = 1, #members, 2 do
      local half = halves[bucket_at(members[i], found + 1) == 2 * index and 1 or 2]
      half[#half + 1] = members[i + 1]
      half[#half + 1] = members[i]
    end
    if #halves[1] > 0 and #halves[2] > 0 then -- both must exist, or bucket_of would stop too early
      call('DEL', key)
      many('ZADD', bucket_key(2 * index), halves[1])
      many('ZADD', bucket_key(2 * index + 1), halves[2])
      buckets_now = buckets_now + 1
      call('HSET', counts, 'buckets', buckets_now)
    end
  end
end

-- Politeness of a host: the strictest of the sites that crawl it; one seed at a time while it fails. Returns delay in ms,
-- concurrency, burst.
local known_politeness = {}
local function politeness_of(state)
  local delay, concurrency, burst = tonumber(state.r or '0'), nil, nil
  for site in string.gmatch(state.s or '', '[^,]+') do
    local rule = known_politeness[site]
    if not rule then
      local d, c, b = string.match(call('HGET', politeness, site) or '', '^(%d+) (%d+) (%d+)$')
      -- The most that a site file may say: a script must not count to a number of somebody else's.
      rule = { math.min(tonumber(d or 1000), 3600000), math.min(tonumber(c or 1), 64), math.min(tonumber(b or 10), 500) }
      known_politeness[site] = rule
    end
    delay = math.max(delay, rule[1])
    concurrency = math.min(concurrency or rule[2], rule[2])
    burst = math.min(burst or rule[3], rule[3])
  end
  if state.e then return delay, 1, 1 end
  return delay, concurrency or 1, burst or 10
end
local function turns_of(host)
  local flat, state = call('HGETALL', turn .. host), {}
  for i = 1, #flat, 2 do
    local field, value = flat[i], flat[i + 1]
    local sound
    if string.byte(field) == 104 then -- h
      sound = string.find(value, '^%S+ %d+$')
    elseif field == 'r' then
      sound = tonumber(value) <= TURN_IDLE_MS
    else
      sound = field == 's' or field == 'l' or tonumber(value) <= now + TURN_IDLE_MS -- junk must not block a host for ever
    end
    if sound then state[field] = value else call('HDEL', turn .. host, field) end
  end
  return state
end
local function turns_held(state)
  local number = 0
  for field in pairs(state) do
    if string.byte(field) == 104 then number = number + 1 end -- h
  end
  return number
end
-- Held turns are kept for as long as they are held, however slow the host; free ones need not be.
local function forget_later(state, host)
  if turns_held(state) == 0 then call('PEXPIRE', turn .. host, TURN_IDLE_MS) end
end
local function add_site(state, host, site)
  if not state.s then
    state.s = site
  elseif state.s ~= site and not string.find(',' .. state.s .. ',', ',' .. site .. ',', 1, true) then
    state.s = state.s .. ',' .. site
  else
    return
  end
  call('HSET', turn .. host, 's', state.s)
  forget_later(state, host)
end

-- Turns that may start now, and when the next one may (now, when there are some). A concurrency that was lowered counts what
-- is held already.
local function free_turns(state, concurrency)
  local free, next_ms, not_before = {}, now + RECHECK_MS, tonumber(state.x or '0')
  local most = concurrency - turns_held(state)
  if most > 0 then
    for i = 1, concurrency do
      if not state['h' .. i] then
        local at = math.max(tonumber(state['n' .. i] or '0'), not_before)
        if at > now then next_ms = math.min(next_ms, at) elseif #free < most then free[#free + 1] = i end
      end
    end
  end
  return free, #free > 0 and now or next_ms
end
-- who: 'nav', 'content' or 'borrow'. Returns the turn's token.
local function take_turn(state, host, owner, serial, i, who)
  local token = string.format('%.0f', serial * TURN_STEP + i)
  state['h' .. i], state.l = owner .. ' ' .. token, who
  call('HSET', turn .. host, 'h' .. i, state['h' .. i], 'l', who)
  call('PERSIST', turn .. host)
  if state['w' .. who] then state['w' .. who] = nil; call('HDEL', turn .. host, 'w' .. who) end
  call('SADD', turns .. owner, token .. ' ' .. host)
  return token
end
-- next_ms: earliest next start of that turn; nil leaves it as it was.
local function give_turn(state, host, owner, token, next_ms)
  call('SREM', turns .. owner, token .. ' ' .. host)
  local i = string.format('%.0f', tonumber(token) % TURN_STEP)
  if state['h' .. i] ~= owner .. ' ' .. token then return end -- given back before, or reclaimed
  state['h' .. i] = nil
  call('HDEL', turn .. host, 'h' .. i)
  if next_ms then
    state['n' .. i] = string.format('%.0f', next_ms)
    call('HSET', turn .. host, 'n' .. i, state['n' .. i])
  end
  forget_later(state, host)
end
-- Notes that WHO, not served last, asked in vain: claim.lua leaves the next free turn to who has waited longest.
local function wants_since(state, who)
  local since = tonumber(state['w' .. who] or '0')
  return state.l ~= who and now - since < WANT_MS and since or nil
end
local function ask_in_vain(state, host, who)
  if state.l ~= who and not wants_since(state, who) then
    call('HSET', turn .. host, 'w' .. who, string.format('%.0f', now))
    forget_later(state, host)
  end
end

-- Whether a call was given up while it was on its way (undo.lua).
local function is_void(owner, serial)
  local key = fence .. owner
  if serial > tonumber(call('GET', key) or '0') then return false end
  if call('PTTL', key) > 0 then return true end
  call('DEL', key) -- none of ours, which expire: it would void all calls
  return false
end

-- Sets when a claim on the host can succeed next. A host just served or freed queues from now on, behind those that wait longer.
-- The score may turn out too early, never too late; claim.lua repairs a head that it finds too early.
local function refresh(hosts_key, ready_prefix, host, free_ms, only_earlier)
  local first = call('ZRANGE', ready_prefix .. host, 0, 0, 'WITHSCORES')
  if #first == 0 then call('ZREM', hosts_key, host); return end
  local at = math.max(tonumber(first[2]), free_ms, now)
  if only_earlier then call('ZADD', hosts_key, 'LT', at, host) else call('ZADD', hosts_key, at, host) end
end
local function refresh_both(host, state)
  local _, concurrency = politeness_of(state)
  local _, free_ms = free_turns(state, concurrency)
  refresh(hosts, ready, host, free_ms, true)
  refresh(other_hosts, other_ready, host, free_ms, true)
end

-- Says on a channel that a turn is free or will be, but not a thousand times a second.
local function announce(channel, pause_key)
  if call('SET', pause_key, 1, 'NX', 'PX', WAKE_PAUSE_MS) then call('PUBLISH', channel, 'turn') end
end

-- Books a seed in or out of ready (by = 1, -1). Re-runs of a schedule are also counted as waiting: they don't keep a crawl going.
local function book_ready(fp, plan, site, interval, by)
  book(plan, site, 'ready', by)
  if interval > 0 and call('SISMEMBER', scheduled, fp) == 1 then book(plan, site, 'waiting', by) end
end

-- Puts a seed where the next claim finds it. A doubted one is like any other; a suspect is claimed alone.
local function make_ready(fp, host, plan, site, interval, due)
  book_ready(fp, plan, site, interval, 1)
  local crashed = call('HGET', crashes, fp)
  if crashed and tonumber(crashed) >= 0 then call('ZADD', suspects, due, fp); return end
  local first = call('ZRANGE', ready .. host, 0, 0, 'WITHSCORES')
  call('ZADD', ready .. host, due, fp)
  if #first == 0 or due < tonumber(first[2]) then call('ZADD', hosts, 'LT', due, host) end
end

-- Ends a claim as if it had not been made; when the seed was due went with the answer, so it is due since the claim.
local function take_back(fp, value, owner)
  local host, plan, site, interval = head(value)
  local claimed_at = tonumber(call('ZSCORE', execute, fp) or now)
  call('ZREM', execute, fp)
  call('HDEL', claims, fp)
  call('SREM', held .. owner, fp)
  book(plan, site, 'executing', -1)
  make_ready(fp, host, plan, site, interval, claimed_at)
end

-- Ends a seed for good as failed; it stays known.
local function make_failed(fp, plan, site, reason)
  call('ZADD', fail, now, fp)
  call('HSET', reasons, fp, reason)
  call('HDEL', tries, fp)
  call('HDEL', crashes, fp)
  book(plan, site, 'failed', 1)
  book(plan, site, 'failed:' .. reason, 1)
end
