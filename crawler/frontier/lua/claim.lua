#!lua
-- Needs: keys, values, clock, budget, sessions, ledger, fence, turns, waiting, shares, order, hosts, browsers, states,
--   plans.
--
-- Claims a batch of ready seeds for one owner. Sent in one pipeline right behind SET lock TOKEN NX PX, so it is the
-- only one at work unless the lock expired.
--
-- A call does this, in this order:
--   1. It ends at once where it doesn't hold the lock, its owner has no session, or its owner has given it up.
--   2. It takes back some of what workers held whose sessions have lapsed. No process of its own has to be alive for
--      that: every claim does a part of it.
--   3. If a seed is in quarantine, since workers have died while they fetched it (lib/states.lua), the owner may be the
--      one who tries it next, with nothing beside it. An owner who still holds others is laden: it is to end them,
--      claim no more, and then ask again.
--   4. It gives seeds of the hosts that have waited longest, each on a free turn of its host (lib/turns.lua); before
--      them those of hosts that the owner prefers, if they have waited about as long.
--   5. It says when the next claim may succeed.
--
-- ARGV: wake channel, the other frontier's; lock token; owner, claim id, serial number of the call; most seeds to give;
--   how many seeds the owner carries; LOCK_MILLISECONDS; 1 if the owner has a browser, else 0; how many hosts in line
--   to name; hosts that the owner prefers, a few of those that it was told to be in line.
-- Returns {state, next_ms, server_ms, seeds, left, line}:
--   state    'ok', 'locked' (next_ms: what is left of the lock), 'lapsed' (the owner must open a session first),
--            'laden' (as said under 3), or 'quarantined' (the one seed given is)
--   next_ms  ms until a claim may succeed; -1: nothing is in sight
--   seeds    a flat list, for each seed: fingerprint, stored value and below it the lines of `also`, token of its turn
--            (0 for a page that needs no fetch, nor a turn), when it was due, tries, delay of its host in ms, and 1 if
--            it is suspected of killing workers, else 0
--   left     1 if seeds were left to owners with a browser, since this one has none; else 0
--   line     those hosts whose time has come that the next claim would look at first

-- Bounds of one call.
local MOST = {
  reclaimed = 200, -- seeds and turns that are taken back from owners whose sessions have lapsed
  lapsed_sessions = 10, -- lapsed sessions that are looked at
  quarantine_looks = 20, -- quarantined seeds that are looked at
  hosts_per_read = 200, -- hosts that are read from `hosts` at once
  hosts = 500, -- hosts that are looked at: some 15 ms where all of their turns are held
  -- Seeds given, seeds and turns taken back, and twice the seeds whose plans have stopped, since to park or fail one
  -- costs twice as much: some 15 ms.
  moves = 500,
  site_looks = 50, -- seeds of a host whose sites are looked at, to see whether all need a browser
}
local MAX_CRASHES = 3 -- how many workers may die with a quarantined seed before it fails
local UNLOAD_MS = 60000 -- how soon an owner who is laden must come for the quarantined seed, before others may
local YIELD_MS = 1200 -- how long a turn is left to whoever waits for it, who asks once a second

local channel, other_channel, token, owner, claim, serial, max_seeds, carrying, lock_ms, has_browser = unpack(ARGV)
serial, max_seeds, carrying = tonumber(serial), tonumber(max_seeds), tonumber(carrying)
has_browser = has_browser == '1'
-- Whether hosts are left to owners with a browser, where all pages of their sites must be rendered.
local leaves_hosts = not has_browser and call('EXISTS', browser_sites) == 1

-- Returns the answer with which the call ends at once, or nil when it may go on. Reads `sessions` and `fence` (whether
-- the owner has given the call up); reads `lock`, and deletes it where it must not stay.
local function refuse()
  if call('GET', lock) ~= token then
    call('PEXPIRE', lock, lock_ms, 'LT') -- it is junk without an end, or lasts longer since Redis's clock was set back
    return { 'locked', math.max(0, call('PTTL', lock)), now, {}, 0, {} }
  end
  local deadline = call('ZSCORE', sessions, owner)
  local has_lapsed = not deadline or tonumber(deadline) < now
  if has_lapsed or is_void(owner, serial) then
    call('DEL', lock)
    return { has_lapsed and 'lapsed' or 'locked', 0, now, {}, 0, {} }
  end
end

local moved = 0 -- how much of MOST.moves is used, but for the seeds given

-- Moves lapsed sessions out of `sessions`, into `lapsed` of both frontiers. From then on they can't be renewed. Those
-- that only Redis's absence or a change of its clock has made late are given more time first (lib/sessions.lua).
local function end_lapsed_sessions()
  spare_sessions()
  for _, gone in ipairs(call('ZRANGE', sessions, '-inf', '(' .. now, 'BYSCORE', 'LIMIT', 0, MOST.lapsed_sessions)) do
    local deadline = call('ZSCORE', sessions, gone)
    call('ZADD', lapsed, deadline, gone)
    call('ZADD', other_lapsed, deadline, gone)
    call('ZREM', sessions, gone)
    call('HDEL', receipts, gone)
    call('SREM', spared, gone)
  end
end

-- Frees up to `limit` turns of an owner whose session lapsed at `deadline`. Each starts a delay after that: the owner
-- may have sent a request just before. Reads and writes turns:OWNER and the hosts' turns. Returns how many, and whether
-- a host has a turn again.
local function reclaim_turns(lost, deadline, limit)
  local entries, any = limit > 0 and call('SPOP', turns .. lost, limit) or {}, false
  for _, entry in ipairs(entries) do
    local turn_token, host = split_turn(entry)
    if host then
      local host_turns = turns_of(host)
      release_turn(host_turns, lost, turn_token, deadline + politeness_of(host_turns))
      update_host_in_both(host_turns)
      any = true
    end
  end
  return #entries, any
end

-- Makes up to `limit` seeds of an owner whose session lapsed ready again, suspected, in quarantine or failed. Reads and
-- writes held:OWNER, `execute`, `claims` and `crashes`. Returns how many.
local function reclaim_seeds(lost, limit)
  local fingerprints = limit > 0 and call('SPOP', held .. lost, limit) or {}
  local values, before = read_all('HMGET', seed, fingerprints), read_all('HMGET', crashes, fingerprints)
  local further = read_further(fingerprints)
  for n, fingerprint in ipairs(fingerprints) do
    call('ZREM', execute, fingerprint)
    call('HDEL', claims, fingerprint)
    if values[n] then
      local host, kinds = host_and_kinds(values[n], further[n])
      local crashed = tonumber(before[n] or SUSPECTED)
      if crashed ~= SUSPECTED then crashed = crashed + 1 end -- from SUSPECTED_BEGUN to 0: into quarantine
      book_all(kinds, 'executing', -1)
      book_all(kinds, 'reclaimed', 1)
      -- What others have named as the page to index is failed by a worker, which has those crawled again.
      local is_named = string.find(values[n] .. (further[n] or ''), ',"a":"', 1, true)
      if crashed >= MAX_CRASHES and not is_named then
        make_failed(fingerprint, kinds, 'crashed-worker')
      else
        call('HSET', crashes, fingerprint, crashed)
        make_ready(fingerprint, host, kinds, now, values[n], further[n])
      end
    end
  end
  return #fingerprints
end

-- Reclaims what owners in `lapsed` still hold, and removes those from it who hold nothing any more. Returns how many
-- seeds and turns were reclaimed.
local function reclaim()
  local reclaimed, any_turn = 0, false
  local gone = call('ZRANGE', lapsed, 0, MOST.lapsed_sessions - 1, 'WITHSCORES')
  for i = 1, #gone, 2 do
    local lost = gone[i]
    local number, any = reclaim_turns(lost, tonumber(gone[i + 1]), MOST.reclaimed - reclaimed)
    reclaimed, any_turn = reclaimed + number, any_turn or any
    reclaimed = reclaimed + reclaim_seeds(lost, MOST.reclaimed - reclaimed)
    if call('EXISTS', held .. lost, turns .. lost) == 0 then call('ZREM', lapsed, lost) end
  end
  flush_hosts()
  if any_turn then announce_turn(other_channel, other_wake_pause) end
  moved = moved + reclaimed
  return reclaimed
end

-- Returns when the first seed can be claimed of those hosts that were left to owners with a browser; nil: there is
-- none.
local function first_left_at()
  local first = call('ZRANGE', hosts, text(FOR_BROWSERS), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  return #first > 0 and tonumber(first[2]) - FOR_BROWSERS or nil
end
local any_left = has_browser and first_left_at() ~= nil

-- What this call gives: how many seeds, their fingerprints, and all that it answers of them, as the flat list that it
-- returns. A table for each seed costs a claim 5 % more CPU.
local given = { number = 0, fingerprints = {}, words = {} }
-- Places of some of a seed's words in that list, behind those of the seeds before it, and how many words each has.
local VALUE, TRIES, DELAY, IS_SUSPECTED, WORDS = 2, 5, 6, 7, 7

-- Gives a seed. `further`: what `also` holds of it; `turn_token`: of the turn that it runs on; `delay`: its host's, in
-- ms. `record_given` adds how often it was tried, and whether it is suspected (1), or only to be failed (2).
local function give(fingerprint, value, further, kinds, due, turn_token, delay)
  local words, at = given.words, WORDS * given.number
  given.number = given.number + 1
  given.fingerprints[given.number] = fingerprint
  words[at + 1], words[at + VALUE] = fingerprint, further and value .. '\n' .. further or value
  words[at + 3], words[at + 4], words[at + TRIES] = turn_token, due, 0
  words[at + DELAY], words[at + IS_SUSPECTED] = delay, 0
  book_ready(fingerprint, kinds, -1)
  book_all(kinds, 'executing', 1)
end

-- Gives the first quarantined seed that is due and whose host has a free turn, unless another living owner is already
-- the one who takes quarantined seeds (`quarantine_owner`), which makes this one it. Reads and writes `quarantine`
-- and `quarantine_owner`. Returns the call's state: 'ok' (there is none for this owner), 'laden' or 'quarantined'.
local function give_quarantined()
  if call('ZCARD', quarantine) == 0 then return 'ok' end
  local taker = call('GET', quarantine_owner)
  if taker and taker ~= owner and call('ZSCORE', sessions, taker) then return 'ok' end
  local entries = call('ZRANGE', quarantine, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST.quarantine_looks, 'WITHSCORES')
  for i = 1, #entries, 2 do
    local fingerprint, due = entries[i], tonumber(entries[i + 1])
    local value, further, kinds = call('HGET', seed, fingerprint), further_of(fingerprint), nil
    local host, stored_kinds = host_and_kinds(value or '', further)
    if value then value, further, kinds = obey_stops(fingerprint, value, further, stored_kinds, due) end
    if not value then
      call('ZREM', quarantine, fingerprint)
    elseif not (leaves_hosts and needs_browser(kinds[1].site)) then
      local host_turns = turns_of(host)
      add_site(host_turns, kinds[1].site)
      local delay, concurrency = politeness_of(host_turns)
      local free = free_turns(host_turns, concurrency)
      if #free > 0 then
        call('SET', quarantine_owner, owner, 'PX', UNLOAD_MS)
        -- Beside what it carries, an owner holds what it has ended until that has been settled here.
        if carrying > 0 or call('EXISTS', held .. owner) == 1 then return 'laden' end
        call('ZREM', quarantine, fingerprint)
        local turn_token = acquire_turn(host_turns, owner, serial, free[1], frontier)
        give(fingerprint, value, further, kinds, due, turn_token, delay)
        update_host_in_both(host_turns)
        return 'quarantined'
      end
    end
  end
  return 'ok'
end

-- Leaves one of a host's free turns to whoever has asked for one in vain for longer than this frontier, and did not get
-- the last one; so nobody starves who shares a host. Takes it off `free`, the numbers of the free turns. Returns
-- whether it did.
local function yield_turn(host_turns, free)
  local since_here = waits_since(host_turns, frontier) or now + 1
  for _, who in ipairs({ SEEDLESS, other_frontier }) do
    local since = waits_since(host_turns, who)
    if #free > 0 and since and since < since_here then
      delete_field(host_turns, FIELD.waits_since .. who) -- it is left to them once
      if who == other_frontier then call('PUBLISH', other_channel, 'yield') end
      free[#free] = nil
      return true
    end
  end
  return false
end

-- Returns the fingerprints of a host's due seeds, at most `limit`; when each of them is due, with one more entry: when
-- the seed after them is, if there is one; and whether they don't all stand in front. `host_turns` is nil where there
-- are no turns. Reads and writes ready:HOST and the turns' `given`.
local read_due
do
  local SHARE = 10 -- one in so many seeds of a host is of another priority than the first

  -- Ranks up to `limit` seeds of a host whose time has come (lib/order.lua).
  local function rank_due(host, limit)
    local entries = call('ZRANGE', ready .. host, 0, now_text, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
    if #entries == 0 then return end
    local fingerprints, scores = {}, {}
    for i = 1, #entries, 2 do fingerprints[#fingerprints + 1] = entries[i] end
    local further = read_further(fingerprints)
    for n, value in ipairs(read_all('HMGET', seed, fingerprints)) do
      scores[2 * n - 1] = text(order.score_of(order.rank_of(value or '', further[n]), tonumber(entries[2 * n])))
      scores[2 * n] = fingerprints[n]
    end
    write_all('ZADD', ready .. host, scores)
  end

  -- Puts the first seed of another priority in the place of some of those that a host gives, the last ones: one in
  -- SHARE, so that none waits for ever, however many are offered that come before it. Every second time it is of the
  -- lowest priority that waits there, else of one below the first, each in turn. Returns whether it did.
  local function mix_in_others(host, host_turns, fingerprints, due)
    local field, limit = FIELD.given .. frontier, #fingerprints
    local given_before = tonumber(host_turns.fields[field] or '0')
    local given_then = given_before + limit
    set_field(host_turns, field, text(given_then % (SHARE * 2 * order.lower_priorities)))
    local is_given, looks, mixed = {}, {}, 0
    for _, fingerprint in ipairs(fingerprints) do is_given[fingerprint] = true end
    for time = math.floor(given_before / SHARE), math.floor(given_then / SHARE) - 1 do
      local before = 1 + math.floor(time / 2) % order.lower_priorities -- how many priorities come before this one
      if time % 2 == 0 then
        local last = call('ZRANGE', ready .. host, '(0', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
        before = order.priorities_before(tonumber(last[2]))
      end
      local from, offset = text(order.end_of_priorities(before)), looks[before] or 0
      local first = call('ZRANGE', ready .. host, from, '(0', 'BYSCORE', 'LIMIT', offset, 1, 'WITHSCORES')
      looks[before] = offset + 1
      if #first > 0 and not is_given[first[1]] then
        is_given[first[1]] = true
        fingerprints[limit - mixed], due[limit - mixed] = first[1], order.due_of(tonumber(first[2]))
        mixed = mixed + 1
      end
    end
    return mixed > 0
  end

  function read_due(host, host_turns, limit)
    if host_turns then rank_due(host, limit) end
    local entries = call('ZRANGE', ready .. host, 0, limit, 'WITHSCORES')
    local fingerprints, due = {}, {}
    for i = 1, #entries, 2 do
      local at = tonumber(entries[i + 1])
      due[#due + 1] = order.due_of(at)
      if at <= now and #fingerprints < limit then fingerprints[#fingerprints + 1] = entries[i] end
    end
    local is_more_due = host_turns and #due > limit and due[limit + 1] <= now
    return fingerprints, due, is_more_due and mix_in_others(host, host_turns, fingerprints, due)
  end
end

-- Reads seeds of a host, and tells those that may be given from others, which it parks or fails. Adds the sites of the
-- former to the host's; `host_turns` is nil where there are no turns. Returns the seeds' values, what `also` holds of
-- them, and their kinds; the places of those that may be given; and the fingerprints of the others.
local function read_fit(host, host_turns, fingerprints, due)
  local values, further, kinds = read_all('HMGET', seed, fingerprints), read_further(fingerprints), {}
  local fit, unfit = {}, {}
  for n, fingerprint in ipairs(fingerprints) do
    local value = values[n]
    local seed_host, stored_kinds = host_and_kinds(value or '', further[n])
    if value and seed_host ~= host then -- damaged, or put here by somebody else: this host's turn is not for it
      book_ready(fingerprint, stored_kinds, -1)
      make_failed(fingerprint, stored_kinds, 'damaged')
      unfit[#unfit + 1] = fingerprint
    else
      if value then
        values[n], further[n], kinds[n] = obey_stops(fingerprint, value, further[n], stored_kinds, due[n])
      end
      if values[n] then
        fit[#fit + 1] = n
        if host_turns then add_site(host_turns, kinds[n][1].site) end
      else
        unfit[#unfit + 1] = fingerprint
      end
    end
  end
  moved = moved + 2 * #unfit
  return values, further, kinds, fit, unfit
end

-- Takes what was given, the first `number` of `fit`, and what is `gone` out of ready:HOST. `is_mixed`: not all of that
-- stood in front. Returns when the host's next seed is due; nil: there is none.
local function take_out_of_host(host, fingerprints, due, fit, number, gone, is_mixed)
  if #gone == 0 and not is_mixed then
    if number > 0 then call('ZREMRANGEBYRANK', ready .. host, 0, number - 1) end
    return due[number + 1]
  end
  for k = 1, number do gone[#gone + 1] = fingerprints[fit[k]] end
  write_all('ZREM', ready .. host, gone)
  return first_due(ready, host)
end

-- Gives up to `limit` due seeds that need no fetch, nor a turn. Returns when the next one is due; nil: there is none.
local function give_delivered(limit)
  local fingerprints, due = read_due(DELIVERED, nil, limit)
  local values, further, kinds, fit, gone = read_fit(DELIVERED, nil, fingerprints, due)
  for _, n in ipairs(fit) do give(fingerprints[n], values[n], further[n], kinds[n], due[n], '0', 0) end
  return take_out_of_host(DELIVERED, fingerprints, due, fit, #fit, gone)
end

-- Has what this call has given of a host before keep a longer delay, too: a stricter site has joined since.
local function slow_down(host, delay)
  for at = 0, #given.words - 1, WORDS do
    if host_and_kinds(given.words[at + VALUE]) == host then given.words[at + DELAY] = delay end
  end
end

-- Gives up to `limit` due seeds of a host, dealt out over its free turns, `burst` to each at most. Takes them out of
-- ready:HOST. Returns when the host's next seed is due (nil: there is none), and whether a turn was left to somebody
-- else.
local function give_from_host(host, host_turns, limit)
  local fingerprints, due, is_mixed = read_due(host, host_turns, limit)
  local delay_before = politeness_of(host_turns)
  local values, further, kinds, fit, gone = read_fit(host, host_turns, fingerprints, due)
  local number, yielded = 0, false
  if #fit > 0 then
    local delay, concurrency, burst = politeness_of(host_turns) -- a stricter site may have joined
    if delay > delay_before then slow_down(host, delay) end
    local free = turns_to_take(host_turns, concurrency, owner)
    yielded = yield_turn(host_turns, free)
    number = math.min(#fit, #free * burst)
    local tokens = {}
    for k = 1, number do
      local n, at = fit[k], (k - 1) % #free + 1
      if not tokens[at] then tokens[at] = acquire_turn(host_turns, owner, serial, free[at], frontier) end
      give(fingerprints[n], values[n], further[n], kinds[n], due[n], tokens[at], delay)
    end
  end
  return take_out_of_host(host, fingerprints, due, fit, number, gone, is_mixed), yielded
end

-- Leaves a host to owners with a browser, if all sites of its first seeds need one. Returns whether it did.
local function leave_to_browsers(host, host_turns)
  if not needs_browser(host_turns.fields[FIELD.sites]) then return false end
  local first = call('ZRANGE', ready .. host, 0, MOST.site_looks - 1)
  for _, value in ipairs(read_all('HMGET', seed, first)) do
    if value then
      local _, kinds = host_and_kinds(value)
      add_site(host_turns, kinds[1].site)
    end
  end
  local due = first_due(ready, host)
  if not due or not needs_browser(host_turns.fields[FIELD.sites]) then return false end
  local _, concurrency = politeness_of(host_turns)
  local _, free_at = free_turns(host_turns, concurrency)
  place_host(hosts, host, FOR_BROWSERS + math.max(due, free_at, now))
  return true
end

local leaves_turns = false -- whether this call has left turns that are free to others

-- Gives seeds of one host whose time has come, and places it anew.
local function serve_host(host)
  local host_turns = turns_of(host)
  if not host_turns.fields[FIELD.sites] then -- the host's first time: only a seed of it tells how politely it is asked
    local first = call('ZRANGE', ready .. host, 0, 0)
    local value = #first > 0 and call('HGET', seed, first[1])
    if value then
      local _, kinds = host_and_kinds(value)
      add_site(host_turns, kinds[1].site)
    end
  end
  if leaves_hosts and leave_to_browsers(host, host_turns) then return end
  local _, concurrency, burst = politeness_of(host_turns)
  local free, free_at, leaves_some = turns_to_take(host_turns, concurrency, owner)
  if #free == 0 and not leaves_some and free_ownerless_turns(host_turns) then
    free, free_at, leaves_some = turns_to_take(host_turns, concurrency, owner)
  end
  local due, yielded
  if #free == 0 then
    if not leaves_some then note_waiting(host_turns, frontier) end
    due = first_due(ready, host)
  else
    local limit = math.min(#free * burst, MOST.moves - moved - given.number)
    -- Seeds that wait for their host's robots.txt cost their holder next to nothing, so that these may be more.
    if not host_turns.fields[FIELD.robots_seeds] then limit = math.min(limit, max_seeds - given.number) end
    due, yielded = give_from_host(host, host_turns, limit)
    _, concurrency = politeness_of(host_turns)
    _, free_at = free_turns(host_turns, concurrency)
    if yielded then free_at = math.max(free_at, now + YIELD_MS) end
  end
  if leaves_some then
    leaves_turns = true
    free_at = math.max(free_at, now + 1) -- others may claim them at once; this call has done with the host
  end
  update_host(place_host, hosts, host, due, free_at)
end

-- Returns whether this call has done enough.
local function is_full()
  return given.number >= max_seeds or moved + given.number >= MOST.moves or not has_time()
end

local give_from_hosts
do -- a script has at most 200 locals at once
  local PASSED_MS = 5000 -- how much longer than one that is preferred a host that is passed by may have waited

  -- Returns the first hosts whose time has come, at most `limit`. To an owner with a browser also those that were left
  -- to such owners: one of each kind in turn, so that neither holds the other up.
  local function hosts_due(limit)
    local for_all = call('ZRANGE', hosts, '-inf', now_text, 'BYSCORE', 'LIMIT', 0, limit)
    if not any_left then return for_all end
    local range = { text(FOR_BROWSERS), text(FOR_BROWSERS + now) }
    local left = call('ZRANGE', hosts, range[1], range[2], 'BYSCORE', 'LIMIT', 0, limit)
    local mixed = {}
    for n = 1, math.max(#for_all, #left) do
      mixed[#mixed + 1] = for_all[n]
      mixed[#mixed + 1] = left[n]
    end
    return mixed
  end

  -- Gives seeds of hosts that the owner prefers (ARGV), unless the host that has waited longest comes first.
  local function give_from_preferred()
    local preferred = { unpack(ARGV, 12) }
    if #preferred == 0 then return end
    local first = call('ZRANGE', hosts, 0, 0, 'WITHSCORES')
    local latest = math.min(now, tonumber(first[2] or '0') + PASSED_MS)
    for n, at in ipairs(read_all('ZMSCORE', hosts, preferred)) do
      if is_full() then break end
      if at and tonumber(at) <= latest and preferred[n] ~= DELIVERED then serve_host(preferred[n]) end
    end
    flush_hosts()
  end

  -- Gives up to `max_seeds` seeds of hosts whose time has come, those that have waited longest first but for those that
  -- the owner prefers, and places each host anew. Seeds that need no fetch are at most half of what is left to give, so
  -- that they hold no others up. Reads and writes `hosts` and the hosts' turns.
  function give_from_hosts()
    give_from_preferred()
    local looked_at = 0
    while not is_full() and looked_at < MOST.hosts do
      local limit = math.min(max_seeds - given.number, MOST.hosts_per_read)
      local due_hosts = hosts_due(limit)
      if #due_hosts == 0 then break end
      for _, host in ipairs(due_hosts) do
        if is_full() then break end
        looked_at = looked_at + 1
        if host == DELIVERED then
          local due = give_delivered(math.ceil((max_seeds - given.number) / 2))
          update_host(place_host, hosts, host, due, now)
        else
          serve_host(host)
        end
      end
      flush_hosts()
    end
  end
end

-- Redis keeps a key with few entries as a list, and searches it from its head for each entry: the first hundred would
-- cost three times what they do in a table. An entry as long as this makes it a table, and it stays one.
local LONG = string.rep('-', 65)

-- Writes down that the owner holds what it was given: `execute`, `claims` and held:OWNER. Adds what `tries` and
-- `crashes` say of it.
local function record_given()
  local fingerprints, claimed_at, claim_ids = given.fingerprints, {}, {}
  if given.number == 0 then return end
  for n, fingerprint in ipairs(fingerprints) do
    claimed_at[2 * n - 1], claimed_at[2 * n] = now_text, fingerprint
    claim_ids[2 * n - 1], claim_ids[2 * n] = fingerprint, claim
  end
  -- LONG is taken out again at once, so that it stays nowhere, whatever fails later. It comes with an entry that stays:
  -- an empty key would vanish.
  if call('EXISTS', execute) == 0 then
    call('ZADD', execute, 0, LONG, now_text, fingerprints[1])
    call('ZREM', execute, LONG)
    call('HSET', claims, LONG, '', fingerprints[1], claim)
    call('HDEL', claims, LONG)
  end
  if call('EXISTS', held .. owner) == 0 then
    call('SADD', held .. owner, LONG, fingerprints[1])
    call('SREM', held .. owner, LONG)
  end
  write_all('ZADD', execute, claimed_at)
  write_all('HSET', claims, claim_ids)
  write_all('SADD', held .. owner, fingerprints)
  if call('EXISTS', tries) == 1 then
    for n, tried in ipairs(read_all('HMGET', tries, fingerprints)) do
      if tried then given.words[WORDS * (n - 1) + TRIES] = tonumber(tried) end
    end
  end
  if call('EXISTS', crashes) == 1 then
    for n, crashed in ipairs(read_all('HMGET', crashes, fingerprints)) do
      local number, at = tonumber(crashed or 0), WORDS * (n - 1) + IS_SUSPECTED
      if number < 0 then given.words[at] = 1 elseif number >= MAX_CRASHES then given.words[at] = 2 end
    end
  end
end

-- Returns in how many ms a claim may succeed; -1 where nothing is in sight. Reads `hosts`, `quarantine`, and, since the
-- holder of a seed may die, `sessions`. `reclaimed`: how much this call has reclaimed; at the limit there may be more.
local function next_claim_ms(reclaimed)
  local LAPSE_GRACE_MS = 100 -- added to the next session's deadline, so that one look finds it lapsed
  local LOOK_MS = 1000 -- when a quarantined seed is looked for again: another owner may be about to take it
  local LEFT_MS = 100 -- when an owner asks again that has left turns to others, who may not want them
  if reclaimed >= MOST.reclaimed then return 0 end
  local waits = {}
  local first_host = call('ZRANGE', hosts, 0, 0, 'WITHSCORES')
  local first_at = tonumber(first_host[2] or FOR_BROWSERS)
  if first_at < FOR_BROWSERS then waits[#waits + 1] = math.max(0, first_at - now) end
  local left_at = any_left and first_left_at()
  if left_at then waits[#waits + 1] = math.max(0, left_at - now) end
  if call('EXISTS', execute) == 1 then
    local first_session = call('ZRANGE', sessions, 0, 0, 'WITHSCORES')
    if #first_session > 0 then waits[#waits + 1] = math.max(0, tonumber(first_session[2]) - now) + LAPSE_GRACE_MS end
  end
  local first_quarantined = call('ZRANGE', quarantine, 0, 0, 'WITHSCORES')
  if #first_quarantined > 0 then waits[#waits + 1] = math.max(LOOK_MS, tonumber(first_quarantined[2]) - now) end
  if #waits == 0 then return -1 end
  local wait = math.min(unpack(waits))
  return leaves_turns and given.number == 0 and math.max(wait, LEFT_MS) or wait
end

local refusal = refuse()
if refusal then return refusal end

end_lapsed_sessions()
local reclaimed = reclaim()
local state = give_quarantined()
if state == 'ok' then give_from_hosts() end
record_given()
flush_hosts()
flush_turns()
flush_ledger()
call('DEL', lock)
if leaves_turns then announce_turn(channel, wake_pause) end
local next_ms = next_claim_ms(reclaimed)
note_unfilled(owner, given.number < max_seeds and next_ms >= 0)
local left_at = leaves_hosts and first_left_at()
local line = ARGV[11] ~= '0' and call('ZRANGE', hosts, '-inf', now_text, 'BYSCORE', 'LIMIT', 0, ARGV[11]) or {}
return { state, next_ms, now, given.words, left_at and left_at <= now and 1 or 0, line }
