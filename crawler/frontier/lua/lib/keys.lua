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
  if number and number <= NUMBER_MAX and number >= -NUMBER_MAX then return number end
  if not number or number ~= number then return 0 end
  return number > 0 and NUMBER_MAX or -NUMBER_MAX
end
local F = string.match(lock, ':(%a+):lock$')
local OTHER_F = F == 'nav' and 'content' or 'nav'
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function text(whole) return string.format('%d', whole) end -- faster than Redis, which takes numbers for fractions
local now_text = text(now)
local UNPACK_MAX = 4000      -- Lua's unpack ends near 8,000 values

-- Calls COMMAND KEY VALUES... in pieces that unpack can take; none at all without values.
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

-- What the words before a stored seed's JSON say: its host and its kind. A kind is what many seeds share: plan, site, interval
-- (s), and `booked`, what this call does to the ledger. Dashes stand for the words of a damaged seed, which its claimant will fail.
local kinds = {}
local function head(value)
  local host, words = string.match(value, '^([^ ]+) ([^ ]+ [^ ]+ %d+) ')
  words = words or '- - 0'
  local kind = kinds[words]
  if not kind then
    local plan, site, interval = string.match(words, '^([^ ]+) ([^ ]+) (%d+)$')
    kind = { plan = plan, site = site, interval = tonumber(interval), booked = {} }
    kinds[words] = kind
  end
  return host or '-', kind
end

-- Adds to a number in a hash and returns the sum; one that is junk begins anew.
local function add(key, field, by)
  local sum = redis.pcall('HINCRBY', key, field, by)
  if type(sum) == 'number' then return sum end
  call('HSET', key, field, by)
  return by
end

-- The ledger: sums are kept here and written once, by book_close.
local function book(kind, state, by)
  local booked = kind.booked
  booked[state] = (booked[state] or 0) + by
end
local function book_close()
  local totals = {}
  for _, kind in pairs(kinds) do
    if next(kind.booked) then call('SADD', ledgers, kind.plan .. ' ' .. kind.site) end
    for state, by in pairs(kind.booked) do
      if by ~= 0 then add(ledger .. kind.plan .. ':' .. kind.site, F .. ':' .. state, by) end
      totals[state] = (totals[state] or 0) + by
    end
  end
  for state, by in pairs(totals) do
    if by ~= 0 then add(counts, state, by) end
  end
end
