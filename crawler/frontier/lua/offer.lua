#!lua
-- Proposes seeds. Those that are ready, executing, failed or finished are refused and counted as known. Those beyond a
-- host's budget of followed links are counted as over-budget, and nowhere else: they were never offered.
--
-- ARGV: wake channel; for each seed: fingerprint, stored value, when it is due in ms ('0': now); then, for followed
-- links only, the
--   budget of each host, as 'SEEDS WINDOW_MS'.
-- Returns one byte for each seed: '1' new, '0' known, '2' over budget.

local SEEDS_FROM = 2 -- place in ARGV
local SEED_WORDS = 3

local channel, number = ARGV[1], math.floor((#ARGV - 1) / SEED_WORDS)
local has_budget = #ARGV > SEED_WORDS * number + 1
local budget, window_ms = string.match(has_budget and ARGV[#ARGV] or '', '^(%d+) (%d+)$')

-- Returns which of the fingerprints are known: fingerprint -> true. Reads `seed` and `finish`.
local function read_known(fingerprints)
  local known, absent = {}, {}
  for n, value in ipairs(read_all('HMGET', seed, fingerprints)) do
    if value then known[fingerprints[n]] = true else absent[#absent + 1] = fingerprints[n] end
  end
  for n, is_finished in ipairs(are_finished(absent)) do known[absent[n]] = is_finished end
  return known
end

local followed_before, followed_now = {}, {} -- host -> followed seeds before this call, and in it

-- Takes one seed off a host's budget of followed links. Reads followed:HOST. Returns whether there was room for it.
local function has_room(host)
  if not budget then return true end
  followed_before[host] = followed_before[host] or tonumber(call('GET', followed .. host) or '0')
  local here = followed_now[host] or 0
  if followed_before[host] + here >= tonumber(budget) then return false end
  followed_now[host] = here + 1
  return true
end

-- Answers each seed and books it. Returns the answers; the new seeds as fingerprint, value, fingerprint, value...; and
-- for each host of theirs a list due, fingerprint, due, fingerprint..., and when the first of them is due.
local function sort_out()
  local fingerprints = {}
  for n = 1, number do fingerprints[n] = ARGV[SEEDS_FROM + SEED_WORDS * (n - 1)] end
  local known, answers, new, new_of, first_of = read_known(fingerprints), {}, {}, {}, {}
  for n, fingerprint in ipairs(fingerprints) do
    local at = SEEDS_FROM + SEED_WORDS * (n - 1)
    local value, due_text = ARGV[at + 1], ARGV[at + 2]
    local host, kind = host_and_kind(value)
    if known[fingerprint] then
      book(kind, 'offered', 1)
      book(kind, 'known', 1)
      answers[n] = '0'
    elseif not has_room(host) then
      book(kind, 'over-budget', 1)
      answers[n] = '2'
    else
      book(kind, 'offered', 1)
      book(kind, 'ready', 1)
      answers[n] = '1'
      known[fingerprint] = true -- should it come twice in this call
      local due = tonumber(due_text)
      if due == 0 then due, due_text = now, now_text end
      new[#new + 1] = fingerprint
      new[#new + 1] = value
      local of_host = new_of[host]
      if not of_host then of_host = {}; new_of[host] = of_host end
      of_host[#of_host + 1] = due_text
      of_host[#of_host + 1] = fingerprint
      first_of[host] = math.min(first_of[host] or due, due)
    end
  end
  return answers, new, new_of, first_of
end

-- Writes the new seeds: `seed`, ready:HOST, `hosts`, followed:HOST. A host with older seeds keeps its score, which may
-- be later than their time since its turns are taken; unless a new seed is due before all of them.
local function store(new, new_of, first_of)
  write_all('HSET', seed, new)
  local names = {}
  for host in pairs(new_of) do names[#names + 1] = host end
  for n, score in ipairs(read_all('ZMSCORE', hosts, names)) do
    local host, due = names[n], first_of[names[n]]
    local older = score and due < tonumber(score) and first_due(ready, host)
    if not score or due < tonumber(score) and (not older or due < older) then place_host_no_later(hosts, host, due) end
    write_all('ZADD', ready .. host, new_of[host])
  end
  flush_hosts()
  for host, seeds in pairs(followed_now) do
    if call('INCRBY', followed .. host, seeds) == seeds then call('PEXPIRE', followed .. host, window_ms) end
  end
end

local answers, new, new_of, first_of = sort_out()
if #new > 0 then
  store(new, new_of, first_of)
  call('PUBLISH', channel, 'offer')
end
flush_ledger()
return table.concat(answers)
