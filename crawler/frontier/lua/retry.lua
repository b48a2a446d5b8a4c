#!lua flags=allow-oom
-- Makes failed seeds ready again, as if they had just been offered.
--
-- ARGV: wake channel; then fingerprints, of any state.
-- Returns how many of them had failed.

local channel, retried = ARGV[1], 0
for i = 2, #ARGV do
  local fingerprint = ARGV[i]
  local value = call('ZSCORE', fail, fingerprint) and call('HGET', seed, fingerprint)
  if value then
    local host, kind = host_and_kind(value)
    book(kind, 'failed', -1)
    book(kind, 'failed:' .. (call('HGET', reasons, fingerprint) or 'unknown'), -1)
    call('ZREM', fail, fingerprint)
    call('HDEL', reasons, fingerprint)
    make_ready(fingerprint, host, kind, now)
    retried = retried + 1
  end
end
flush_hosts()
flush_ledger()
if retried > 0 then call('PUBLISH', channel, 'retry') end
return retried
