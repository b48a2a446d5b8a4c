#!lua flags=allow-oom
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
    local asks = false -- whether a stop of a plan asks for a change
    for _, kind in ipairs(kinds) do
      local stop = stop_of(kind.plan)
      asks = asks or stop == 'cancel' or stop == 'pause' and not is_parked
    end
    if asks and host ~= '-' then -- a damaged seed is left to its claimant
      withdraw(fingerprint, host, kinds)
      book_ready(fingerprint, kinds, 1) -- as it is for who obeys
      local left, _, kinds_left = obey_stops(fingerprint, value, further[n], kinds, due)
      if left then
        book_ready(fingerprint, kinds_left, -1) -- make_ready counts it again
        make_ready(fingerprint, host, kinds_left, due)
      end
      number = number + 1
    end
  end
  done = n
end
flush_hosts()
flush_ledger()
return { number, done }
