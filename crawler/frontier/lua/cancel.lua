#!lua flags=allow-oom
-- Fails the seeds of cancelled plans that nobody holds.
--
-- ARGV: reason; then fingerprints, of any plan and state: those of other plans, and those that are executing or failed,
-- stay as they are.
-- Returns how many were failed.

local reason, cancelled = ARGV[1], 0
for i = 2, #ARGV do
  local fingerprint = ARGV[i]
  local value = call('HGET', seed, fingerprint)
  if value and not call('ZSCORE', execute, fingerprint) and not call('ZSCORE', fail, fingerprint) then
    local host, kind = host_and_kind(value)
    if call('SISMEMBER', paused, 'cancel ' .. kind.plan) == 1 then
      withdraw(fingerprint, host, kind)
      make_failed(fingerprint, kind, reason)
      cancelled = cancelled + 1
    end
  end
end
flush_ledger()
return cancelled
