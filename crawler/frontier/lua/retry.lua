#!lua flags=allow-oom
-- Makes failed seeds ready again, as if they had just been offered.
--
-- ARGV: wake channel; then fingerprints.
-- Returns how many were in fail.

local done = 0
for i = 2, #ARGV do
  local fp = ARGV[i]
  local value = call('ZSCORE', fail, fp) and call('HGET', seed, fp)
  if value then
    local host, kind = head(value)
    book(kind, 'failed', -1)
    book(kind, 'failed:' .. (call('HGET', reasons, fp) or 'unknown'), -1)
    call('ZREM', fail, fp)
    call('HDEL', reasons, fp)
    make_ready(fp, host, kind, now)
    done = done + 1
  end
end
hosts_close()
book_close()
if done > 0 then call('PUBLISH', ARGV[1], 'retry') end
return done
