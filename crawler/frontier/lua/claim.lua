#!lua
-- Moves a batch ready -> execute for one owner. Sent in one pipeline behind SET lock token NX PX.
--
-- ARGV: wake channel, the other frontier's, lock token, owner, claim id, serial number of the call, most seeds, seeds the owner
--   carries.
-- Returns {state, next_ms, server_ms, flat list}:
--   state    'ok', 'locked' (next_ms: what the lock has left), 'lapsed' (open a session first), 'drain' (a suspect, with which
--            two workers died, waits for you: finish what you carry, then claim again), 'quarantined' (the one seed given is)
--   next_ms  ms until a claim may succeed; -1: nothing in sight
--   list     per seed: fingerprint, stored value, token of its turn, due in ms, tries, delay in ms, 1 if it is doubted

local LOCK_MAX_MS = 60000 -- LOCK_MILLISECONDS may be no more
local WALK_MAX = 1000     -- hosts looked at in one call
local RECLAIM_MAX = 200   -- seeds and turns of lapsed sessions moved in one call
local LAPSED_MAX = 10     -- lapsed sessions looked at in one call
local CRASHES_MAX = 3     -- a seed that killed its worker so often, alone, is given up
local GRACE_MS = 100      -- after another session's deadline, so that one look finds it lapsed
local ALONE_MS = 60000    -- how long an owner may take to drain for a suspect
local YIELD_MS = 1200     -- how long a turn is left to who wants it: borrowers ask once a second, workers come when called

local channel, other_channel, token, owner, claim = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local serial, most, carrying = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])

if call('GET', lock) ~= token then
  local left = call('PTTL', lock)
  if left >= 0 and left <= LOCK_MAX_MS then return { 'locked', left, now, {} } end
  call('DEL', lock) -- none of ours: it would keep everybody off for ever
  return { 'locked', 0, now, {} }
end
local deadline = call('ZSCORE', sessions, owner)
if not deadline or tonumber(deadline) < now then
  call('DEL', lock)
  return { 'lapsed', 0, now, {} }
end
if is_void(owner, serial) then
  call('DEL', lock)
  return { 'locked', 0, now, {} }
end

-- 1. What lapsed sessions held. No sweeper has to be alive: whoever claims does it.
for _, gone in ipairs(call('ZRANGE', sessions, '-inf', '(' .. now, 'BYSCORE', 'LIMIT', 0, LAPSED_MAX)) do
  local ended = call('ZSCORE', sessions, gone)
  call('ZADD', lapsed, ended, gone)
  call('ZADD', other_lapsed, ended, gone)
  call('ZREM', sessions, gone)
end
local moved, turns_came_back = 0, false
local gone = call('ZRANGE', lapsed, 0, LAPSED_MAX - 1, 'WITHSCORES')
for i = 1, #gone, 2 do
  local lost, ended = gone[i], tonumber(gone[i + 1])
  local entries = moved < RECLAIM_MAX and call('SPOP', turns .. lost, RECLAIM_MAX - moved) or {}
  for _, entry in ipairs(entries) do
    local turn_token, host = string.match(entry, '^(%d+) (.+)$')
    if host then
      local state = turns_of(host)
      local delay = politeness_of(state)
      give_turn(state, lost, turn_token, ended + delay) -- it may have started a request just before its deadline
      refresh_both(state)
      turns_came_back = true
    end
  end
  moved = moved + #entries
  local fps = moved < RECLAIM_MAX and call('SPOP', held .. lost, RECLAIM_MAX - moved) or {}
  local values, before = hmget(seed, fps), hmget(crashes, fps)
  for n, fp in ipairs(fps) do
    call('ZREM', execute, fp)
    call('HDEL', claims, fp)
    if values[n] then
      local host, kind = head(values[n])
      local count = tonumber(before[n] or DOUBTED)
      if count ~= DOUBTED then count = count + 1 end
      book(kind, 'executing', -1)
      book(kind, 'reclaimed', 1)
      if count >= CRASHES_MAX then
        make_failed(fp, kind, 'crashed-worker')
      else
        call('HSET', crashes, fp, count)
        make_ready(fp, host, kind, now)
      end
    end
  end
  moved = moved + #fps
  if call('EXISTS', held .. lost, turns .. lost) == 0 then call('ZREM', lapsed, lost) end
end
hosts_close()
if turns_came_back then announce(other_channel, other_wake_pause) end

-- 2. Which plans are paused or cancelled.
local stopped, any_stopped = {}, false
for _, entry in ipairs(call('SMEMBERS', paused)) do
  local what, plan = string.match(entry, '^(%a+) (.+)$')
  if plan then
    stopped[plan] = what
    any_stopped = true
  end
end

local list, taken, taken_at, taken_claims = {}, {}, {}, {}
local function take(fp, value, kind, turn_token, due, delay)
  local n, m = #list, #taken
  list[n + 1], list[n + 2], list[n + 3], list[n + 4] = fp, value, turn_token, due
  list[n + 5], list[n + 6], list[n + 7] = 0, delay, 0
  taken[m + 1] = fp
  taken_at[2 * m + 1], taken_at[2 * m + 2] = now_text, fp
  taken_claims[2 * m + 1], taken_claims[2 * m + 2] = fp, claim
  book_ready(fp, kind, -1)
  book(kind, 'executing', 1)
end

-- Takes a seed out of circulation when its plan is paused or cancelled. Returns whether it did.
local function is_stopped(fp, kind, due)
  local what = stopped[kind.plan]
  if not what then return false end
  book_ready(fp, kind, -1)
  if what == 'pause' then
    call('ZADD', parked .. kind.plan, due, fp)
    book(kind, 'parked', 1)
  else
    make_failed(fp, kind, 'cancelled')
  end
  return true
end

-- 3. A suspect goes to an owner who carries nothing, alone.
local state = 'ok'
if call('ZCARD', suspects) > 0 then
  local holder = call('GET', alone)
  if not holder or holder == owner or not call('ZSCORE', sessions, holder) then
    local waiting = call('ZRANGE', suspects, '-inf', now, 'BYSCORE', 'LIMIT', 0, 20, 'WITHSCORES')
    for i = 1, #waiting, 2 do
      local fp, value = waiting[i], call('HGET', seed, waiting[i])
      local host, kind = head(value or '')
      if not value or is_stopped(fp, kind, tonumber(waiting[i + 1])) then
        call('ZREM', suspects, fp)
      else
        local turn_state = turns_of(host)
        add_site(turn_state, kind.site)
        local delay, concurrency = politeness_of(turn_state)
        local free = free_turns(turn_state, concurrency)
        if #free > 0 then
          call('SET', alone, owner, 'PX', ALONE_MS)
          state = 'drain'
          if carrying == 0 and call('EXISTS', held .. owner) == 0 then -- what it ended may not have been told yet
            state = 'quarantined'
            call('ZREM', suspects, fp)
            local turn_token = take_turn(turn_state, owner, serial, free[1], F)
            take(fp, value, kind, turn_token, tonumber(waiting[i + 1]), delay)
            refresh_both(turn_state)
          end
          break
        end
      end
    end
  end
end

-- Nobody starves who shares a host: one free turn is left to who has asked for it in vain, was not served last and has waited
-- longer than F; once. Returns whether it is.
local function yields(turn_state, free)
  local mine = wants_since(turn_state, F) or now + 1
  for _, who in ipairs({ 'borrow', OTHER_F }) do
    local since = wants_since(turn_state, who)
    if #free > 0 and since and since < mine then
      erase(turn_state, 'w' .. who)
      if who == OTHER_F then call('PUBLISH', other_channel, 'yield') end
      free[#free] = nil
      return true
    end
  end
  return false
end

-- Takes seeds of a host, onto its free turns. Returns how many, when its next seed is due (nil: there is none), and whether a turn
-- was left to somebody else.
local function take_of(host, turn_state, most_here)
  -- One more than may be taken: it is the next.
  local due = call('ZRANGE', ready .. host, 0, most_here, 'WITHSCORES')
  local fps, ats = {}, {}
  for i = 1, #due, 2 do
    local at = tonumber(due[i + 1])
    ats[#ats + 1] = at
    if at <= now and #fps < most_here then fps[#fps + 1] = due[i] end
  end
  local values, kept, kept_kinds, out, last = hmget(seed, fps), {}, {}, {}, 0
  for n, value in ipairs(values) do
    local fp = fps[n]
    local seed_host, kind = head(value or '')
    if value and seed_host ~= host then -- damaged, or not from here: this host's turn is not for it
      book_ready(fp, kind, -1)
      make_failed(fp, kind, 'damaged')
      out[#out + 1], last = fp, n
    elseif not value or any_stopped and is_stopped(fp, kind, ats[n]) then
      out[#out + 1], last = fp, n
    else
      local k = #kept + 1
      kept[k], kept_kinds[k] = n, kind
      add_site(turn_state, kind.site)
    end
  end
  local number, yielded = 0, false
  if #kept > 0 then
    local delay, concurrency, burst = politeness_of(turn_state) -- a stricter site may have joined
    local free = free_turns(turn_state, concurrency)
    yielded = yields(turn_state, free)
    number = math.min(#kept, #free * burst)
    local tokens = {}
    for n = 1, number do
      local at, k = (n - 1) % #free + 1, kept[n]
      if n <= #free then tokens[n] = take_turn(turn_state, owner, serial, free[n], F) end
      take(fps[k], values[k], kept_kinds[n], tokens[at], ats[k], delay)
      out[#out + 1], last = fps[k], math.max(last, k)
    end
  end
  if #out == last then -- nothing stays in front of them
    if last > 0 then call('ZREMRANGEBYRANK', ready .. host, 0, last - 1) end
    return number, ats[last + 1], yielded
  end
  many('ZREM', ready .. host, out)
  return number, first_due_of(ready, host), yielded
end

-- 4. Hosts, longest waiting first: their free turns, up to `burst` seeds on each, the oldest seeds first.
local walked = 0
local left = state == 'ok' and most or 0
while left > 0 and walked < WALK_MAX do
  local heads = call('ZRANGE', hosts, '-inf', now_text, 'BYSCORE', 'LIMIT', 0, math.min(left, 200))
  if #heads == 0 then break end
  for _, host in ipairs(heads) do
    if left <= 0 then break end
    walked = walked + 1
    local turn_state = turns_of(host)
    if not turn_state.s then -- its first time: how politely, only its seeds say
      local first = call('ZRANGE', ready .. host, 0, 0)
      local value = #first > 0 and call('HGET', seed, first[1])
      if value then
        local _, kind = head(value)
        add_site(turn_state, kind.site)
      end
    end
    local _, concurrency, burst = politeness_of(turn_state)
    local free, free_ms = free_turns(turn_state, concurrency)
    local first_due
    if #free == 0 then
      ask_in_vain(turn_state, F)
      first_due = first_due_of(ready, host)
    else
      local number, yielded
      number, first_due, yielded = take_of(host, turn_state, math.min(left, #free * burst))
      left = left - number
      _, concurrency = politeness_of(turn_state)
      _, free_ms = free_turns(turn_state, concurrency)
      if yielded then free_ms = math.max(free_ms, now + YIELD_MS) end
    end
    refresh(hosts, host, first_due, free_ms, false)
  end
  hosts_close()
end

-- 5. Write down who has what.
if #taken > 0 then
  many('ZADD', execute, taken_at)
  many('HSET', claims, taken_claims)
  many('SADD', held .. owner, taken)
  if call('EXISTS', tries) == 1 then
    for n, count in ipairs(hmget(tries, taken)) do
      if count then list[7 * n - 2] = tonumber(count) end
    end
  end
  if call('EXISTS', crashes) == 1 then
    for n, count in ipairs(hmget(crashes, taken)) do
      if count and tonumber(count) < 0 then list[7 * n] = 1 end
    end
  end
end
hosts_close()
turns_close()
book_close()
call('DEL', lock)

-- 6. When to ask again.
local next_ms = moved >= RECLAIM_MAX and 0 or -1
local function no_later(wait) next_ms = next_ms < 0 and wait or math.min(next_ms, wait) end
local head_host = call('ZRANGE', hosts, 0, 0, 'WITHSCORES')
if #head_host > 0 then no_later(math.max(0, tonumber(head_host[2]) - now)) end
if call('EXISTS', execute) == 1 then -- its holder may die
  local first = call('ZRANGE', sessions, 0, 0, 'WITHSCORES')
  if #first > 0 then no_later(math.max(0, tonumber(first[2]) - now) + GRACE_MS) end
end
local head_suspect = call('ZRANGE', suspects, 0, 0, 'WITHSCORES')
if #head_suspect > 0 then
  no_later(math.max(1000, tonumber(head_suspect[2]) - now)) -- somebody else may be draining for it
end
return { state, next_ms, now, list }
