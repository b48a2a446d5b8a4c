#!lua flags=allow-oom
-- Makes the parked seeds of a plan that goes on ready again.
--
-- ARGV: wake channel; plan; most seeds in this call.
-- Returns how many were moved; to be called again until it is 0.

local channel, plan, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local entries = call('ZPOPMIN', parked .. plan, most)
for i = 1, #entries, 2 do
  local fingerprint, due = entries[i], tonumber(entries[i + 1])
  local value = call('HGET', seed, fingerprint)
  if value then
    local host, kind = host_and_kind(value)
    book(kind, 'parked', -1)
    make_ready(fingerprint, host, kind, due)
  end
end
flush_hosts()
flush_ledger()
if #entries > 0 then call('PUBLISH', channel, 'resume') end
return #entries / 2
