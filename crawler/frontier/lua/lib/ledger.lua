-- What a stored seed is counted under, and the counting itself. A script calls `flush_ledger` once, at its end.
--
-- Gives the scripts: `host_and_kind`, `book`, `flush_ledger`.
--
-- A seed's kind is what it shares with many others: `plan`, `site` and `interval` (s); and, under `booked`, how this
-- call has changed the number of seeds of that kind, by state.

local all_kinds = {} -- `PLAN SITE INTERVAL` -> kind

-- Returns the host and the kind of a stored seed. Dashes stand for the words of a damaged one, which its claimant
-- fails.
local function host_and_kind(value)
  local host, words = string.match(value, '^([^ ]+) ([^ ]+ [^ ]+ %d+) ')
  words = words or '- - 0'
  local kind = all_kinds[words]
  if not kind then
    local plan, site, interval = string.match(words, '^([^ ]+) ([^ ]+) (%d+)$')
    kind = { plan = plan, site = site, interval = tonumber(interval), booked = {} }
    all_kinds[words] = kind
  end
  return host or '-', kind
end

-- Counts `by` seeds of a kind into a state, or out of it where `by` is negative.
local function book(kind, state, by)
  local booked = kind.booked
  booked[state] = (booked[state] or 0) + by
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
