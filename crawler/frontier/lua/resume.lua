#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, ledger, turns, order, hosts, states, plans.
--
-- Makes parked seeds ready again of which a plan goes on.
--
-- ARGV: wake channel; then fingerprints, of any state.
-- Returns {how many are ready again, how many of the fingerprints it came to}.

local channel, resumed, done, fingerprints = ARGV[1], 0, 0, {}
for i = 2, #ARGV do fingerprints[i - 1] = ARGV[i] end
local further = read_further(fingerprints)
for n, value in ipairs(read_all('HMGET', seed, fingerprints)) do
  if not has_time() then break end
  if value and call('ZSCORE', parked, fingerprints[n]) then
    local host, kinds = host_and_kinds(value, further[n])
    if unpark_if_wanted(fingerprints[n], host, kinds, value, further[n]) then resumed = resumed + 1 end
  end
  done = n
end
flush_hosts()
flush_ledger()
if resumed > 0 then call('PUBLISH', channel, 'resume') end
return { resumed, done }
