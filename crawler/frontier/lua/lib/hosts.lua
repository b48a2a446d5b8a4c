-- When a claim of a host's seeds can succeed next: the scores of `hosts` and `other_hosts`. A script that changes them
-- calls `flush_hosts` at its end, or before it reads them again.
--
-- Gives the scripts: `place_host`, `place_host_no_later`, `update_host`, `update_host_in_both`, `flush_hosts`,
-- `announce_turn`.

local WAKE_PAUSE_MS = 200 -- least time between two announcements of freed turns

-- Both: name of the key -> score, host, score, host...
local exactly, no_later = {}, {}
local without_seeds = {} -- name of the key -> hosts to be removed

-- Sets a host's score.
local function place_host(hosts_key, host, at)
  append_to(exactly, hosts_key, text(at))
  append_to(exactly, hosts_key, host)
end

-- Sets a host's score, unless it has an earlier one.
local function place_host_no_later(hosts_key, host, at)
  append_to(no_later, hosts_key, text(at))
  append_to(no_later, hosts_key, host)
end

-- Places a host by when its first seed is due and when its next turn is free, with one of the functions above; removes
-- a host without seeds (`due` is nil). A host that was just served, or freed, queues from now on: behind those that
-- have waited longer.
local function update_host(place, hosts_key, host, due, free_at)
  if due then place(hosts_key, host, math.max(due, free_at, now)) else append_to(without_seeds, hosts_key, host) end
end

local has_other_hosts -- whether any host has ready seeds of the other frontier; known once it was asked

-- Places a host in both frontiers after one of its turns was freed. Returns whether seeds of it are ready in this
-- frontier, and in the other.
local function update_host_in_both(host_turns)
  local host, _, concurrency = host_turns.host, politeness_of(host_turns)
  local _, free_at = free_turns(host_turns, concurrency)
  local due, other_due = first_due(ready, host), nil
  update_host(place_host_no_later, hosts, host, due, free_at)
  if has_other_hosts == nil then has_other_hosts = call('EXISTS', other_hosts) == 1 end
  if has_other_hosts then
    other_due = first_due(other_ready, host)
    update_host(place_host_no_later, other_hosts, host, other_due, free_at)
  end
  return due ~= nil, other_due ~= nil
end

-- Writes `hosts` and `other_hosts`.
local function flush_hosts()
  -- First, since a host may have got seeds after it was found without.
  for key, names in pairs(without_seeds) do write_all('ZREM', key, names) end
  for key, scores in pairs(exactly) do write_all('ZADD', key, scores) end
  for key, scores in pairs(no_later) do write_all('ZADD', key, scores, 'LT') end
  exactly, no_later, without_seeds = {}, {}, {}
end

-- Tells the workers who listen on a channel that a turn is free or will be, but not a thousand times a second.
local function announce_turn(channel, pause_key)
  if call('SET', pause_key, 1, 'NX', 'PX', WAKE_PAUSE_MS) then
    call('PUBLISH', channel, 'turn')
  else
    call('PEXPIRE', pause_key, WAKE_PAUSE_MS, 'LT') -- Redis's clock may have been set back
  end
end
