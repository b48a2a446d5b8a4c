#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, ledger, turns, order, hosts, states, plans.
--
-- Does to seeds that nobody holds what the pauses and cancellations of their plans ask for. Claims do the same to those
-- that they meet; this spares them the work.
--
-- ARGV: fingerprints, of any plan and state: those that are executing or failed, and those without a stopped plan, stay
--   as they are.
-- Returns {how many were parked, failed, or lost a plan; how many of the fingerprints it came to}.

local number, done, further = 0, 0, read_further(ARGV)
for n, value in ipairs(read_all('HMGET', seed, ARGV)) do
  if not has_time() then break end
  local fingerprint = ARGV[n]
  if value and not call('ZSCORE', execute, fingerprint) and not call('ZSCORE', fail, fingerprint) then
    local host, kinds = host_and_kinds(value, further[n])
    local due, is_parked = find_waiting(fingerprint, host)
    local has_cancelled, is_active = false, false
    for _, kind in ipairs(kinds) do
      local stop = stop_of(kind.plan)
      has_cancelled, is_active = has_cancelled or stop == 'cancel', is_active or not stop
    end
    if (has_cancelled or not is_active and not is_parked) and host ~= '-' then -- a damaged seed is left to its claimant
      local left, further_left, kinds_left = obey_stops(fingerprint, value, further[n], kinds, due, is_parked)
      if is_parked and left then unpark_if_wanted(fingerprint, host, kinds_left, left, further_left) end
      if not is_parked and not left then take_out(fingerprint, host) end
      number = number + 1
    end
  end
  done = n
end
flush_hosts()
flush_ledger()
return { number, done }
