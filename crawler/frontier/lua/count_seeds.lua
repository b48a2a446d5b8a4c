#!lua flags=allow-oom
-- Needs: keys, values, clock, ledger, turns, order, hosts, states, plans.
--
-- Counts some of the seeds that aren't finished by the sets that they are in, for a recount. Writes nothing.
--
-- ARGV: where to go on in `seed` (0: at its beginning); about how many seeds to count.
-- Returns {where the next call goes on, '0' where all are counted; how many seeds this one counted; how many of those
--   are executing, and how many wait outside `quarantine`; what it counted for each plan that wants them, as a flat
--   list of plan, site, state and number; hosts that have ready seeds but no place in `hosts`, some of them more than
--   once; hosts of ready seeds that have turns which nobody will release}.

local STATES = { 'ready', 'executing', 'failed' }

local fingerprints, hosts_of, kinds_of = {}, {}, {}
local cursor, flat = unpack(call('HSCAN', seed, ARGV[1], 'COUNT', ARGV[2]))
for i = 1, #flat, 2 do fingerprints[#fingerprints + 1] = flat[i] end

-- Returns when each seed came into a sorted set; false, or nothing at all, for those that aren't in it.
local function scores_in(key) return call('EXISTS', key) == 1 and read_all('ZMSCORE', key, fingerprints) or {} end

local further = read_further(fingerprints)
for n in ipairs(fingerprints) do hosts_of[n], kinds_of[n] = host_and_kinds(flat[2 * n], further[n]) end
local claimed_at, failed_at, quarantined_at = scores_in(execute), scores_in(fail), scores_in(quarantine)
local parked_at, executing, waiting, lost_hosts, blocked = scores_in(parked), 0, 0, {}, {}
for n, queued_at in ipairs(read_all('ZMSCORE', hosts, hosts_of)) do
  local state = claimed_at[n] and 'executing' or failed_at[n] and 'failed' or 'ready'
  book_all(kinds_of[n], state, 1)
  if state == 'executing' then
    executing = executing + 1
  elseif state == 'ready' and not quarantined_at[n] then
    waiting = waiting + 1
    if not parked_at[n] and not queued_at then lost_hosts[#lost_hosts + 1] = hosts_of[n] end
    blocked[hosts_of[n]] = #ownerless_turns(turns_of(hosts_of[n])) > 0
  end
end

local counted, blocked_hosts = {}, {}
for host, is_blocked in pairs(blocked) do
  if is_blocked then blocked_hosts[#blocked_hosts + 1] = host end
end
for _, kind in pairs(all_kinds) do
  for _, state in ipairs(STATES) do
    if kind.booked[state] then
      for _, word in ipairs({ kind.plan, kind.site, state, kind.booked[state] }) do counted[#counted + 1] = word end
    end
  end
end
return { cursor, #fingerprints, executing, waiting, counted, lost_hosts, blocked_hosts }
