#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, ledger, turns, order, hosts, states, plans.
--
-- Makes failed seeds ready again, as if they had just been offered. Those whose plans are all cancelled stay failed.
--
-- ARGV: wake channel; then fingerprints, of any state.
-- Returns {how many are ready again, how many of the fingerprints it came to}.

local channel, retried, done = ARGV[1], 0, 0
for i = 2, #ARGV do
  if not has_time() then break end
  local fingerprint = ARGV[i]
  local value = call('ZSCORE', fail, fingerprint) and call('HGET', seed, fingerprint)
  local further = further_of(fingerprint)
  local host, kinds = host_and_kinds(value or '', further)
  if value and not are_cancelled(kinds) then
    book_all(kinds, 'failed', -1)
    book_all(kinds, 'failed:' .. (call('HGET', reasons, fingerprint) or 'unknown'), -1)
    call('ZREM', fail, fingerprint)
    call('HDEL', reasons, fingerprint)
    make_ready(fingerprint, host, kinds, now, value, further)
    retried = retried + 1
  end
  done = i - 1
end
flush_hosts()
flush_ledger()
if retried > 0 then call('PUBLISH', channel, 'retry') end
return { retried, done }
