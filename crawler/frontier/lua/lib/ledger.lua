-- What a stored seed is counted under, and the counting itself. A script calls `flush_ledger` once, at its end.
--
-- Gives the scripts: `DELIVERED`, `split_seed`, `all_kinds`, `kind_of`, `host_and_kinds`, `book`, `book_all`,
-- `flush_ledger`.
--
-- A seed's kind is what it shares with many others: `plan`, `site` and `interval` (s); and, under `booked`, how this
-- call has changed the number of seeds of that kind, by state. A seed has a kind for each plan that wants it, and each
-- of those plans counts it, so the ledger counts pairs of a seed and a plan. Only seeds that are visited once are
-- wanted by several plans: a scheduled one has its plan in its fingerprint.

local DELIVERED = '+' -- stands in place of the host of a seed whose page needs no fetch

-- Splits a stored seed, `HOST PLAN SITE INTERVAL JSON`: returns its plan, `SITE INTERVAL` and its JSON; nil for a
-- damaged one.
local function split_seed(value) return string.match(value, '^[^ ]+ ([^ ]+) ([^ ]+ %d+) (.*)$') end

local all_kinds = {} -- `PLAN SITE INTERVAL` -> kind

-- Returns the kind that three words of a stored seed name, `PLAN SITE INTERVAL`.
local function kind_of(words)
  local kind = all_kinds[words]
  if not kind then
    local plan, site, interval = string.match(words, '^([^ ]+) ([^ ]+) (%d+)$')
    kind = { plan = plan, site = site, interval = tonumber(interval), booked = {} }
    kind.alone = { kind } -- the kinds of a seed that one plan wants
    all_kinds[words] = kind
  end
  return kind
end

-- Returns the host of a stored seed, and its kinds, the first plan's first. Dashes stand for the words of a damaged
-- one, which its claimant fails. `further`: what `also` holds of it, false or nil for nothing.
local function host_and_kinds(value, further)
  local host, words = string.match(value, '^([^ ]+) ([^ ]+ [^ ]+ %d+) ')
  local first = kind_of(words or '- - 0')
  if not further then return host or '-', first.alone end
  local kinds, rest = { first }, ' ' .. first.site .. ' ' .. text(first.interval)
  for plan in string.gmatch(further, '([^ \n]+)[^\n]*') do kinds[#kinds + 1] = kind_of(plan .. rest) end
  return host or '-', kinds
end

-- Counts `by` seeds of a kind into a state, or out of it where `by` is negative.
local function book(kind, state, by)
  local booked = kind.booked
  booked[state] = (booked[state] or 0) + by
end

-- Books a seed in the ledger of each plan that wants it.
local function book_all(kinds, state, by)
  for _, kind in ipairs(kinds) do book(kind, state, by) end
end

-- Writes what was booked: to the ledgers of plans and sites, and the sums to `counts`.
local function flush_ledger()
  local sums = {}
  for _, kind in pairs(all_kinds) do
    if next(kind.booked) then call('SADD', ledgers, kind.plan .. ' ' .. kind.site) end
    for state, by in pairs(kind.booked) do
      if by ~= 0 then increment(ledger .. kind.plan .. ':' .. kind.site, frontier .. ':' .. state, by) end
      sums[state] = (sums[state] or 0) + by
    end
  end
  for state, by in pairs(sums) do
    if by ~= 0 then increment(counts, state, by) end
  end
end
