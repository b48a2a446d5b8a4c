-- A host's turns: who may ask the host, and when. An address with a budget has turns of its own, under `@ADDRESS`.
--
-- Gives the scripts: `TOKENS_PER_SERIAL`, `TURN_IDLE_MS`, `turns_of`, `set_field`, `delete_field`, `is_address`,
-- `politeness_of`, `add_site`, `last_of_next_starts`, `free_turns`, `acquire_turn`, `release_turn`, `ownerless_turns`,
-- `free_ownerless_turns`, `heed_order`, `split_turn`, `flush_turns`, `FIELD`. A script that changes turns calls
-- `flush_turns` once, at its end.
--
-- A token is SERIAL * 1000 + I, with the serial number of the call that acquired the turn. It fences the turn, as a
-- claim id fences a seed: whoever releases it late, after somebody else has acquired the turn, changes nothing.

-- Fields of the hash turn:HOST. Each is a letter, since millions of hosts have some; `holder` and `next_start` have the
-- number of a turn behind them (a host's turns are numbered from 1 to its concurrency), `waits_since` has who waits,
-- and `given` the frontier.
local FIELD = {
  holder = 'h', holder_byte = 104, -- `OWNER TOKEN`: who holds the turn
  next_start = 'n', next_start_byte = 110, -- when the turn may start its next request
  backoff_ends = 'x', -- when the host's backoff ends: no turn may start a request before
  robots_delay = 'r', -- ms that the host's robots.txt asks for, with which it has one turn; of an address, its delay
  sites = 's', -- names of the sites that crawl the host, with commas between; the strictest one counts
  last_asker = 'l', -- who acquired a turn last: `nav` or `content`, for seeds of that frontier, or `seedless`
  waits_since = 'w', -- since when one of those three has asked for a turn in vain
  error_level = 'e', -- the level of errors that the host has answered with lately; absent while it is 0
  level_rose = 'u', -- when that level rose last
  forgiven_left = 'g', -- how many more failures are taken for pages' own: the host answered other pages lately
  ordered_delay = 'd', -- ms that operators want, with which the host has one turn; a copy of `host_orders`
  paused = 'p', -- there while operators have paused the host: no turn of it is acquired; a copy of `host_orders`
  given = 'o', -- how many seeds it has given while it had more, in rounds: claim.lua lets others pass by that
  robots_seeds = 'b', -- how many seeds a claim takes on a turn while the host's robots.txt is unreachable
}

local TOKENS_PER_SERIAL = 1000 -- how many tokens a serial number makes; a host has fewer turns
local TURN_IDLE_MS = 7200000 -- when a host's turns are forgotten after the last was released: no delay is longer
local RECHECK_MS = 15000 -- when a claim looks again at a host with all turns held: their holder may have died

-- What this call knows of each host's turns: `host`; `fields`, the sound fields of its hash as they are by now;
-- `changed`, those to be written (name -> value); `deleted`, those to be deleted (name -> true); `held`, how many turns
-- are held; `stored`, what lay in Redis before this call: 'held' (turns, some of them held), 'free' (none of them
-- held), or 'none'.
local hosts_turns = {}

local function set_field(host_turns, name, value)
  host_turns.fields[name], host_turns.changed[name], host_turns.deleted[name] = value, value, nil
end
local function delete_field(host_turns, name)
  host_turns.fields[name], host_turns.changed[name], host_turns.deleted[name] = nil, nil, true
end

-- Has a host's turns keep to what operators want of it, an entry of `host_orders`; junk asks for nothing. Returns the
-- delay (ms, at most what a site's file may ask for), and whether the host is paused.
local function heed_order(host_turns, entry)
  local delay_text, paused_text = string.match(entry or '', '^(%d+) ([01])$')
  local delay, is_paused = math.min(tonumber(delay_text or '0'), 3600000), paused_text == '1'
  local wanted_fields = { [FIELD.ordered_delay] = delay > 0 and text(delay), [FIELD.paused] = is_paused and '1' }
  for _, name in ipairs({ FIELD.ordered_delay, FIELD.paused }) do
    if wanted_fields[name] then
      set_field(host_turns, name, wanted_fields[name])
    elseif host_turns.fields[name] then
      delete_field(host_turns, name)
    end
  end
  return delay, is_paused
end

-- Returns a host's turns, read from turn:HOST when they are first asked for, with what operators want of the host where
-- nothing was known of it. Deletes junk, which might block the host for ever.
local function turns_of(host)
  local host_turns = hosts_turns[host]
  if host_turns then return host_turns end
  local fields, held_count = {}, 0
  host_turns = { host = host, fields = fields, changed = {}, deleted = {}, held = 0, stored = 'none' }
  hosts_turns[host] = host_turns
  local flat = call('HGETALL', turn .. host)
  for i = 1, #flat, 2 do
    local name, value = flat[i], flat[i + 1]
    local is_sound
    if string.byte(name) == FIELD.holder_byte then
      is_sound = string.find(name, '^h%d+$') and string.find(value, '^%S+ %d+$')
      if is_sound then held_count = held_count + 1 end
    elseif name == FIELD.robots_delay or name == FIELD.ordered_delay then
      is_sound = (tonumber(value) or math.huge) <= TURN_IDLE_MS
    else
      is_sound = name == FIELD.sites or name == FIELD.last_asker or (tonumber(value) or math.huge) <= now + TURN_IDLE_MS
    end
    if is_sound then fields[name] = value else host_turns.deleted[name] = true end
  end
  host_turns.held = held_count
  if #flat > 0 then
    host_turns.stored = held_count > 0 and 'held' or 'free'
  else
    local entry = call('HGET', host_orders, host)
    if entry then heed_order(host_turns, entry) end
  end
  return host_turns
end

local acquired, released = {}, {} -- owner -> `TOKEN HOST`, for turns:OWNER

-- Writes what has changed: turn:HOST and turns:OWNER. Turns are kept for as long as one of them is held, however slow
-- the host; free ones expire.
local function flush_turns()
  for host, host_turns in pairs(hosts_turns) do
    local key, changed, deleted = turn .. host, {}, {}
    for name, value in pairs(host_turns.changed) do
      changed[#changed + 1] = name
      changed[#changed + 1] = value
    end
    for name in pairs(host_turns.deleted) do deleted[#deleted + 1] = name end
    write_all('HSET', key, changed)
    write_all('HDEL', key, deleted)
    if host_turns.held > 0 then
      if host_turns.stored == 'free' then call('PERSIST', key) end
    elseif #changed > 0 or #deleted > 0 then
      call('PEXPIRE', key, TURN_IDLE_MS)
    end
  end
  for owner, entries in pairs(acquired) do write_all('SADD', turns .. owner, entries) end
  for owner, entries in pairs(released) do write_all('SREM', turns .. owner, entries) end
end

-- Returns delay (ms), concurrency and burst of some sites taken together. Reads `politeness`. A site that isn't there
-- has the defaults of crawler/base/models.py:Politeness. Values in Redis aren't trusted: they are cut to the largest
-- that a site's file may have (crawler/sites/politeness.py:PolitenessPart).
local function strictest(sites)
  local delay, concurrency, burst = 0, nil, nil
  for site in string.gmatch(sites, '[^,]+') do
    local d, c, b = string.match(call('HGET', politeness, site) or '', '^(%d+) (%d+) (%d+)$')
    d, c, b = math.min(tonumber(d or 1000), 3600000), math.min(tonumber(c or 1), 64), math.min(tonumber(b or 10), 500)
    delay, concurrency, burst = math.max(delay, d), math.min(concurrency or c, c), math.min(burst or b, b)
  end
  return { delay, concurrency or 1, burst or 10 }
end

-- Returns whether these are the turns of an address with a budget.
local function is_address(host_turns)
  return string.byte(host_turns.host) == 64 -- @
end

local known_politeness = {} -- `sites` -> what strictest says: many hosts belong to the same sites

-- Returns a host's delay between two starts of a turn (ms), its concurrency, and how many seeds one claim may take on a
-- turn (burst). A host whose robots.txt or operator asks for a delay has one turn, for the delay is the host's. A host
-- with errors is given one seed at a time. While its robots.txt is unreachable, a host is given more seeds, which are
-- tried together.
local function politeness_of(host_turns)
  local fields = host_turns.fields
  local sites = fields[FIELD.sites] or ''
  local rule = known_politeness[sites]
  if not rule then rule = strictest(sites); known_politeness[sites] = rule end
  local robots_delay, ordered_delay = fields[FIELD.robots_delay], fields[FIELD.ordered_delay]
  local delay = math.max(rule[1], tonumber(robots_delay or '0'), tonumber(ordered_delay or '0'))
  local held_for_robots = fields[FIELD.robots_seeds] and math.min(tonumber(fields[FIELD.robots_seeds]), 500)
  if fields[FIELD.error_level] then return delay, 1, held_for_robots or 1 end
  return delay, (fields[FIELD.robots_delay] or fields[FIELD.ordered_delay]) and 1 or rule[2], held_for_robots or rule[3]
end

-- Notes that a site crawls the host; '' stands for none, as of a command.
local function add_site(host_turns, site)
  local sites = host_turns.fields[FIELD.sites]
  if site == '' then
    return
  elseif not sites then
    set_field(host_turns, FIELD.sites, site)
  elseif sites ~= site and not string.find(',' .. sites .. ',', ',' .. site .. ',', 1, true) then
    set_field(host_turns, FIELD.sites, sites .. ',' .. site)
  end
end

local names_of = {} -- I -> names of the fields `holder` and `next_start` of turn I

-- Returns the names of turn I's fields.
local function fields_of(i)
  local names = names_of[i]
  if not names then names = { FIELD.holder .. i, FIELD.next_start .. i }; names_of[i] = names end
  return names[1], names[2]
end

-- Returns the latest of the times at which the host's turns may start their next requests; 0: none has started one.
local function last_of_next_starts(host_turns)
  local last = 0
  for name, at in pairs(host_turns.fields) do
    if string.byte(name) == FIELD.next_start_byte then last = math.max(last, tonumber(at)) end
  end
  return last
end

-- Returns the numbers of the turns that may start a request now, and when the next one may (now, where there are some).
-- Turns held beyond a concurrency that was lowered since count, too; so do their starts, where one turn is left. A
-- host that is paused has none.
local function free_turns(host_turns, concurrency)
  local fields = host_turns.fields
  if fields[FIELD.paused] then return {}, now + TURN_IDLE_MS end -- unless it is resumed before
  local free, next_start, earliest = {}, now + RECHECK_MS, tonumber(fields[FIELD.backoff_ends] or '0')
  local free_max = concurrency - host_turns.held
  if concurrency == 1 then earliest = math.max(earliest, last_of_next_starts(host_turns)) end
  if free_max > 0 then
    for i = 1, concurrency do
      local holder, start = fields_of(i)
      if not fields[holder] then
        local at = math.max(tonumber(fields[start] or '0'), earliest)
        if at > now then next_start = math.min(next_start, at) elseif #free < free_max then free[#free + 1] = i end
      end
    end
  end
  return free, #free > 0 and now or next_start
end

-- Gives turn I to an owner and returns its token. `who` asked: 'nav', 'content' or 'seedless'.
local function acquire_turn(host_turns, owner, serial, i, who)
  local token = text(serial * TOKENS_PER_SERIAL + i)
  set_field(host_turns, fields_of(i), owner .. ' ' .. token)
  host_turns.held = host_turns.held + 1
  if host_turns.fields[FIELD.last_asker] ~= who then set_field(host_turns, FIELD.last_asker, who) end
  if host_turns.fields[FIELD.waits_since .. who] then delete_field(host_turns, FIELD.waits_since .. who) end
  append_to(acquired, owner, token .. ' ' .. host_turns.host)
  return token
end

-- Frees the turn of a token; does nothing where the owner no longer holds it. `next_start`: when it may start its next
-- request; nil leaves that as it was.
local function release_turn(host_turns, owner, token, next_start)
  append_to(released, owner, token .. ' ' .. host_turns.host)
  local holder, start = fields_of(math.floor(tonumber(token) % TOKENS_PER_SERIAL))
  if host_turns.fields[holder] ~= owner .. ' ' .. token then return end
  delete_field(host_turns, holder)
  host_turns.held = host_turns.held - 1
  if next_start then set_field(host_turns, start, text(next_start)) end
end

-- Returns the names of the fields of held turns whose owner has no session, nor one that lapsed and is being reclaimed.
-- Nobody would ever release them: they are junk, or what a Redis that lost writes has left. Reads `sessions` and
-- `lapsed`.
local function ownerless_turns(host_turns)
  local names = {}
  for name, value in pairs(host_turns.fields) do
    local owner = string.byte(name) == FIELD.holder_byte and string.match(value, '^%S+')
    if owner and not call('ZSCORE', sessions, owner) and not call('ZSCORE', lapsed, owner) then
      names[#names + 1] = name
    end
  end
  return names
end

-- Frees those turns. Each may start a request a delay from now: whoever held it may have sent one just before. Returns
-- whether there were any.
local function free_ownerless_turns(host_turns)
  local names = ownerless_turns(host_turns)
  for _, name in ipairs(names) do
    delete_field(host_turns, name)
    set_field(host_turns, FIELD.next_start .. string.sub(name, 2), text(now + politeness_of(host_turns)))
    host_turns.held = host_turns.held - 1
  end
  return #names > 0
end

-- Splits an entry of turns:OWNER into token and host; nil for junk.
local function split_turn(entry) return string.match(entry, '^(%d+) (.+)$') end
