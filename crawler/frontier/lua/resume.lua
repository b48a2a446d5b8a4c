#!lua flags=allow-oom
-- Puts the parked seeds of a resumed plan back into ready.
--
-- ARGV: wake channel, plan, most seeds in this call.
-- Returns how many were moved; call again until it is 0.

local plan = ARGV[2]
local entries = call('ZPOPMIN', parked .. plan, tonumber(ARGV[3]))
for i = 1, #entries, 2 do
  local fp, due = entries[i], tonumber(entries[i + 1])
  local value = call('HGET', seed, fp)
  if value then
    local host, kind = head(value)
    book(kind, 'parked', -1)
    make_ready(fp, host, kind, due)
  end
end
hosts_close()
book_close()
if #entries > 0 then call('PUBLISH', ARGV[1], 'resume') end
return #entries / 2
