#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, ledger, fence, turns, order, hosts, states, plans.
--
-- Takes back what an owner holds in Redis without knowing it. The owner lives on and renews its session, so nobody else
-- would ever reclaim it. There are two ways to come to that:
--   - A call was given up, since its answer never came. What it gave is taken back as if the call had not been made,
--     and if it is still on its way, it is void from now on.
--   - Redis has lost its last writes (a restart, a failover), and with them how claims ended or turns were released.
-- Queue finds out what that is. It first sends the serial number alone, so that nothing comes to it while it looks.
--
-- ARGV: wake channel; owner; the highest serial number of calls that the owner has given up (0: of none);
--   number of seeds; for each of those: fingerprint, claim id;
--   for each turn: host; token; '1' if a request may have been started on it as late as now, '0' if nothing was sent on
--     it, as on the turn of a given-up call.
-- Returns {how many seeds are ready again, how many of the seeds it came to, and how many of the turns}.

local SEEDS_FROM = 5 -- the place in ARGV where the seeds begin
local SEED_WORDS, TURN_WORDS = 2, 3

local channel, owner, given_up, number = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

-- Makes held seeds ready again as if they had not been claimed, unless the claims have ended meanwhile. Redis no longer
-- knows when they were due, so they are due since they were claimed. Reads `seed` and `also`; reads and writes
-- `claims`, `execute` and held:OWNER. Returns how many, and how many it came to.
local function recall_seeds()
  local fingerprints, recalled, done = {}, 0, 0
  for n = 1, number do fingerprints[n] = ARGV[SEEDS_FROM + SEED_WORDS * (n - 1)] end
  local values, further = read_all('HMGET', seed, fingerprints), read_further(fingerprints)
  for n, fingerprint in ipairs(fingerprints) do
    if not has_time() then break end
    local claim = ARGV[SEEDS_FROM + SEED_WORDS * (n - 1) + 1]
    if values[n] and call('HGET', claims, fingerprint) == claim then
      local host, kinds = host_and_kinds(values[n], further[n])
      local claimed_at = tonumber(call('ZSCORE', execute, fingerprint) or now)
      call('ZREM', execute, fingerprint)
      call('HDEL', claims, fingerprint)
      call('SREM', held .. owner, fingerprint)
      book_all(kinds, 'executing', -1)
      make_ready(fingerprint, host, kinds, claimed_at, values[n], further[n])
      recalled = recalled + 1
    end
    done = n
  end
  return recalled, done
end

-- Releases turns, unless somebody else holds them by now. Reads and writes the hosts' turns. Returns how many it came
-- to.
local function recall_turns()
  local done = 0
  for at = SEEDS_FROM + SEED_WORDS * number, #ARGV, TURN_WORDS do
    if not has_time() then break end
    local host_turns = turns_of(ARGV[at])
    local next_start = ARGV[at + 2] == '1' and now + politeness_of(host_turns) or nil
    release_turn(host_turns, owner, ARGV[at + 1], next_start)
    update_host_in_both(host_turns)
    done = done + 1
  end
  return done
end

if given_up > 0 then raise_fence(owner, given_up) end
local recalled, seeds_done = recall_seeds()
local turns_done = recall_turns()
flush_hosts()
flush_turns()
flush_ledger()
if recalled > 0 then call('PUBLISH', channel, 'release') end
return { recalled, seeds_done, turns_done }
