-- Who may ask a host, and when.
--
-- A host's turns, hash turn:HOST: hI = `OWNER TOKEN` of who holds turn I; nI = earliest next start of turn I, ms; x = no start
-- before, ms; r = least delay that robots.txt asks for, ms; s = names of the sites that crawl the host, "a,b" (the strictest
-- counts); l = who got a turn last: `nav`, `content` or `borrow`; wWHO = since when WHO has asked in vain, ms; e = level of the
-- errors it has answered with lately, none at 0; u = when that level rose last, ms.
-- A turn's token is SERIAL * 1000 + I: the serial number of the call that took it fences it, as a claim id fences a seed.

local TURN_STEP = 1000       -- turns of a host are fewer
local TURN_IDLE_MS = 7200000 -- a host's turns are forgotten two hours after the last was given back: no delay is longer
local RECHECK_MS = 15000     -- all turns held: look again then, should their holder have died
local WANT_MS = 60000        -- who asked in vain is waited for no longer: it asks again, or has gone
local WAKE_PAUSE_MS = 200    -- between two announcements of freed turns

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
