-- Shared by every script, put before it: names the keys (frontier/keys.py documents them), and holds what any script may need.
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
