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

-- A host's turns are read once a call and written once, by turns_close. Beside the fields of the hash, what was read holds, under
-- numbers since fields are strings: the host, which fields are to be put, which erased, how many turns are held, and how the hash
-- stood before: 'held', 'free' or 'none'.
local HOST, PUT, ERASE, HELD, BEFORE = 1, 2, 3, 4, 5
local read_turns = {}
local given, taken_back = {}, {} -- per owner: `TOKEN HOST`
local function put(state, field, value)
  state[field], state[PUT][field], state[ERASE][field] = value, value, nil
end
local function erase(state, field)
  state[field], state[PUT][field], state[ERASE][field] = nil, nil, true
end
local function turns_of(host)
  local state = read_turns[host]
  if state then return state end
  state = { host, {}, {}, 0, 'none' }
  read_turns[host] = state
  local flat = call('HGETALL', turn .. host)
  for i = 1, #flat, 2 do
    local field, value = flat[i], flat[i + 1]
    local sound
    if string.byte(field) == 104 then -- h
      sound = string.find(value, '^%S+ %d+$')
      if sound then state[HELD] = state[HELD] + 1 end
    elseif field == 'r' then
      sound = tonumber(value) <= TURN_IDLE_MS
    else
      sound = field == 's' or field == 'l' or tonumber(value) <= now + TURN_IDLE_MS -- junk must not block a host for ever
    end
    if sound then state[field] = value else erase(state, field) end
  end
  if #flat > 0 then state[BEFORE] = state[HELD] > 0 and 'held' or 'free' end
  return state
end
-- Held turns are kept for as long as they are held, however slow the host; free ones need not be.
local function turns_close()
  for host, state in pairs(read_turns) do
    local key, fields, gone = turn .. host, {}, {}
    for field, value in pairs(state[PUT]) do
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
    for field in pairs(state[ERASE]) do gone[#gone + 1] = field end
    many('HSET', key, fields)
    many('HDEL', key, gone)
    if state[HELD] > 0 then
      if state[BEFORE] == 'free' then call('PERSIST', key) end
    elseif #fields > 0 or #gone > 0 then
      call('PEXPIRE', key, TURN_IDLE_MS)
    end
  end
  for owner, entries in pairs(given) do many('SADD', turns .. owner, entries) end
  for owner, entries in pairs(taken_back) do many('SREM', turns .. owner, entries) end
  read_turns, given, taken_back = {}, {}, {}
end
local function note(lists, owner, entry)
  local list = lists[owner]
  if not list then list = {}; lists[owner] = list end
  list[#list + 1] = entry
end

-- Politeness of a host: the strictest of the sites that crawl it; one seed at a time while it fails. Returns delay in ms,
-- concurrency, burst.
local known_politeness = {} -- by `s`: hosts of the same sites are many
local function strictest(sites)
  local delay, concurrency, burst = 0, nil, nil
  for site in string.gmatch(sites, '[^,]+') do
    local d, c, b = string.match(call('HGET', politeness, site) or '', '^(%d+) (%d+) (%d+)$')
    -- The most that a site file may say: a script must not count to a number of somebody else's.
    d, c, b = math.min(tonumber(d or 1000), 3600000), math.min(tonumber(c or 1), 64), math.min(tonumber(b or 10), 500)
    delay, concurrency, burst = math.max(delay, d), math.min(concurrency or c, c), math.min(burst or b, b)
  end
  return { delay, concurrency or 1, burst or 10 }
end
local function politeness_of(state)
  local sites = state.s or ''
  local rule = known_politeness[sites]
  if not rule then rule = strictest(sites); known_politeness[sites] = rule end
  local delay = state.r and math.max(rule[1], tonumber(state.r)) or rule[1]
  if state.e then return delay, 1, 1 end
  return delay, rule[2], rule[3]
end
local function add_site(state, site)
  if not state.s then
    put(state, 's', site)
  elseif state.s ~= site and not string.find(',' .. state.s .. ',', ',' .. site .. ',', 1, true) then
    put(state, 's', state.s .. ',' .. site)
  end
end

-- hI and nI.
local holders, starts = {}, {}
local function fields_of(i)
  if not holders[i] then holders[i], starts[i] = 'h' .. i, 'n' .. i end
  return holders[i], starts[i]
end
-- Turns that may start now, and when the next one may (now, when there are some). A concurrency that was lowered counts what
-- is held already.
local function free_turns(state, concurrency)
  local free, next_ms, not_before = {}, now + RECHECK_MS, tonumber(state.x or '0')
  local most = concurrency - state[HELD]
  if most > 0 then
    for i = 1, concurrency do
      local holder, start = fields_of(i)
      if not state[holder] then
        local at = math.max(tonumber(state[start] or '0'), not_before)
        if at > now then next_ms = math.min(next_ms, at) elseif #free < most then free[#free + 1] = i end
      end
    end
  end
  return free, #free > 0 and now or next_ms
end
-- who: 'nav', 'content' or 'borrow'. Returns the turn's token.
local function take_turn(state, owner, serial, i, who)
  local token = text(serial * TURN_STEP + i)
  local holder = fields_of(i)
  put(state, holder, owner .. ' ' .. token)
  state[HELD] = state[HELD] + 1
  if state.l ~= who then put(state, 'l', who) end
  if state['w' .. who] then erase(state, 'w' .. who) end
  note(given, owner, token .. ' ' .. state[HOST])
  return token
end
-- next_ms: earliest next start of that turn; nil leaves it as it was.
local function give_turn(state, owner, token, next_ms)
  note(taken_back, owner, token .. ' ' .. state[HOST])
  local holder, start = fields_of(math.floor(tonumber(token) % TURN_STEP))
  if state[holder] ~= owner .. ' ' .. token then return end -- given back before, or reclaimed
  erase(state, holder)
  state[HELD] = state[HELD] - 1
  if next_ms then put(state, start, text(next_ms)) end
end
-- Notes that WHO, not served last, asked in vain: claim.lua leaves the next free turn to who has waited longest.
local function wants_since(state, who)
  local since = tonumber(state['w' .. who] or '0')
  return state.l ~= who and now - since < WANT_MS and since or nil
end
local function ask_in_vain(state, who)
  if state.l ~= who and not wants_since(state, who) then put(state, 'w' .. who, now_text) end
end

-- Whether a call was given up while it was on its way (undo.lua).
local function is_void(owner, serial)
  local key = fence .. owner
  if serial > tonumber(call('GET', key) or '0') then return false end
  if call('PTTL', key) > 0 then return true end
  call('DEL', key) -- none of ours, which expire: it would void all calls
  return false
end

-- Hosts get their places in `hosts` once a call, by hosts_close.
local earlier, exactly, empty = {}, {}, {} -- per key of hosts: score, host, ...; without scores for hosts without ready seeds
local function place(hosts_key, host, at, only_earlier)
  local lists = only_earlier and earlier or exactly
  note(lists, hosts_key, text(at))
  note(lists, hosts_key, host)
end
-- Sets when a claim on a host can succeed next. A host just served or freed queues from now on, behind those that wait longer.
-- The score may turn out too early, never too late; claim.lua repairs a head that it finds too early.
local function refresh(hosts_key, host, first_due, free_ms, only_earlier)
  if first_due then place(hosts_key, host, math.max(first_due, free_ms, now), only_earlier) else note(empty, hosts_key, host) end
end
local function hosts_close()
  for key, list in pairs(empty) do many('ZREM', key, list) end -- first: a host may have got seeds since
  for key, list in pairs(exactly) do many('ZADD', key, list) end
  for key, list in pairs(earlier) do
    for from = 1, #list, UNPACK_MAX do call('ZADD', key, 'LT', unpack(list, from, math.min(from + UNPACK_MAX - 1, #list))) end
  end
  earlier, exactly, empty = {}, {}, {}
end
local function first_due_of(ready_prefix, host)
  local first = call('ZRANGE', ready_prefix .. host, 0, 0, 'WITHSCORES')
  return #first > 0 and tonumber(first[2]) or nil
end
-- After a turn of the host was freed. Returns whether seeds of it are ready, in this frontier and in the other.
local function refresh_both(state)
  local host, _, concurrency = state[HOST], politeness_of(state)
  local _, free_ms = free_turns(state, concurrency)
  local due, other_due = first_due_of(ready, host), first_due_of(other_ready, host)
  refresh(hosts, host, due, free_ms, true)
  refresh(other_hosts, host, other_due, free_ms, true)
  return due ~= nil, other_due ~= nil
end

-- Says on a channel that a turn is free or will be, but not a thousand times a second.
local function announce(channel, pause_key)
  if call('SET', pause_key, 1, 'NX', 'PX', WAKE_PAUSE_MS) then call('PUBLISH', channel, 'turn') end
end
