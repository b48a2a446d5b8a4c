#!lua flags=allow-oom
-- Fails seeds of a cancelled plan that nobody holds.
--
-- ARGV: reason; then fingerprints (of any plan and state: only those of cancelled plans that are not executing or failed count).
-- Returns how many were failed.

local done = 0
for i = 2, #ARGV do
  local fp = ARGV[i]
  local value = call('HGET', seed, fp)
  if value and not call('ZSCORE', execute, fp) and not call('ZSCORE', fail, fp) then
    local host, kind = head(value)
    if call('SISMEMBER', paused, 'cancel ' .. kind.plan) == 1 then
      call('ZREM', ready .. host, fp)
      call('ZREM', suspects, fp)
      if call('ZREM', parked .. kind.plan, fp) == 1 then book(kind, 'parked', -1) else book_ready(fp, kind, -1) end
      make_failed(fp, kind, ARGV[1])
      if call('EXISTS', ready .. host) == 0 then call('ZREM', hosts, host) end
      done = done + 1
    end
  end
end
book_close()
return done
