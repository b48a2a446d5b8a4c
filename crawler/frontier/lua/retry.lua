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
    local host, plan, site, interval = head(value)
    book(plan, site, 'failed', -1)
    book(plan, site, 'failed:' .. (call('HGET', reasons, fp) or 'unknown'), -1)
    call('ZREM', fail, fp)
    call('HDEL', reasons, fp)
    make_ready(fp, host, plan, site, interval, now)
    done = done + 1
  end
end
book_close()
if done > 0 then call('PUBLISH', ARGV[1], 'retry') end
return done
