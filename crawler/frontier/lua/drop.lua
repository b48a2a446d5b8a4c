#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, receipts, ledger, turns, order, hosts, states, plans.
--
-- Takes a plan away from seeds at once, in any state: it is being replaced or deleted. A seed that no other plan wants
-- ends and is forgotten, so that it may be offered again; the settling of one that was executing is then refused.
--
-- ARGV: reason; plan; then fingerprints. The plan's ledger counts them as failed for the reason, unless they had failed
--   before.
-- Returns {how many seeds the plan was taken away from, how many of the fingerprints it came to}.

local reason, plan, dropped, done = ARGV[1], ARGV[2], 0, 0

-- Returns the state that the ledger counts a seed in.
local function state_of(fingerprint)
  if call('ZSCORE', fail, fingerprint) then return 'failed' end
  if call('ZSCORE', execute, fingerprint) then return 'executing' end
  return call('ZSCORE', parked, fingerprint) and 'parked' or 'ready'
end

-- Takes a seed out of the set that it is in.
local function take_from(state, fingerprint, host, kinds)
  if state == 'failed' then
    call('ZREM', fail, fingerprint)
  elseif state == 'executing' then
    local holder = string.match(call('HGET', claims, fingerprint) or '', '^(.*)#')
    call('ZREM', execute, fingerprint)
    call('HDEL', claims, fingerprint)
    call('SREM', held .. (holder or ''), fingerprint)
    book_all(kinds, 'executing', -1)
  else
    withdraw(fingerprint, host, kinds)
  end
end

for i = 3, #ARGV do
  if not has_time() then break end
  local fingerprint = ARGV[i]
  local value, further = call('HGET', seed, fingerprint), further_of(fingerprint)
  local host, kinds = host_and_kinds(value or '', further)
  local own, kept = nil, {}
  for _, kind in ipairs(kinds) do
    if kind.plan == plan then own = kind else kept[kind.plan] = true end
  end
  if value and own then
    if dropped == 0 then void_receipts() end
    local state = state_of(fingerprint)
    if not next(kept) then
      take_from(state, fingerprint, host, kinds)
      forget_seed(fingerprint, kinds)
    else
      if state ~= 'failed' then book(own, state, -1) end
      keep_plans(fingerprint, value, further, kept, host)
    end
    if state ~= 'failed' then
      book(own, 'failed', 1)
      book(own, 'failed:' .. reason, 1)
    end
    dropped = dropped + 1
  end
  done = i - 2
end
flush_ledger()
return { dropped, done }
