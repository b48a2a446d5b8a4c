#!lua flags=allow-oom
-- Ends seeds at once, in any state, and forgets them, so that they may be offered again: their plan is being replaced
-- or deleted. The settling of a seed that was executing is then refused.
--
-- ARGV: reason; then fingerprints. The ledger counts them as failed for the reason, unless they had failed before.
-- Returns how many were there.

local reason, dropped = ARGV[1], 0
for i = 2, #ARGV do
  local fingerprint = ARGV[i]
  local value = call('HGET', seed, fingerprint)
  if value then
    local host, kind = host_and_kind(value)
    if call('ZREM', fail, fingerprint) == 0 then
      local claim = call('HGET', claims, fingerprint)
      if claim then
        call('ZREM', execute, fingerprint)
        call('HDEL', claims, fingerprint)
        call('SREM', held .. (string.match(claim, '^(.*)#') or ''), fingerprint)
        book(kind, 'executing', -1)
      else
        withdraw(fingerprint, host, kind)
      end
      book(kind, 'failed', 1)
      book(kind, 'failed:' .. reason, 1)
    end
    call('HDEL', seed, fingerprint)
    call('HDEL', tries, fingerprint)
    call('HDEL', reasons, fingerprint)
    call('HDEL', crashes, fingerprint)
    call('SREM', scheduled, fingerprint)
    dropped = dropped + 1
  end
end
flush_ledger()
return dropped
