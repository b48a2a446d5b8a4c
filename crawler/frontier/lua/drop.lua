#!lua flags=allow-oom
-- Ends seeds at once, in any state, and forgets them, so that they may be offered again: their plan is being replaced.
--
-- ARGV: reason; then fingerprints. The ledger counts them as failed for the reason, unless they had failed before.
-- What is executing is taken from its holder, whose settle is then refused.
-- Returns how many were there.

local done = 0
for i = 2, #ARGV do
  local fp = ARGV[i]
  local value = call('HGET', seed, fp)
  if value then
    local host, kind = head(value)
    if call('ZREM', fail, fp) == 0 then
      local claim = call('HGET', claims, fp)
      if claim then
        call('ZREM', execute, fp)
        call('HDEL', claims, fp)
        call('SREM', held .. (string.match(claim, '^(.*)#') or ''), fp)
        book(kind, 'executing', -1)
      elseif call('ZREM', parked .. kind.plan, fp) == 1 then
        book(kind, 'parked', -1)
      else
        book_ready(fp, kind, -1)
        call('ZREM', suspects, fp)
        call('ZREM', ready .. host, fp)
        if call('EXISTS', ready .. host) == 0 then call('ZREM', hosts, host) end
      end
      book(kind, 'failed', 1)
      book(kind, 'failed:' .. ARGV[1], 1)
    end
    call('HDEL', seed, fp)
    call('HDEL', tries, fp)
    call('HDEL', reasons, fp)
    call('HDEL', crashes, fp)
    call('SREM', scheduled, fp)
    done = done + 1
  end
end
book_close()
return done
