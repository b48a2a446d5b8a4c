#!lua flags=allow-oom
-- Takes back what an owner holds in Redis without knowing it. The owner lives on and renews its session, so nobody else
-- would ever reclaim it. There are two ways to come to that:
--   - A call was given up, since its answer never came. What it gave is taken back as if the call had not been made,
--     and if it is still on its way, it is void from now on.
--   - Redis has lost its last writes (a restart, a failover), and with them how claims ended or turns were released.
--
-- ARGV: wake channel; owner; serial number of the owner's first call that is under way, or 0 to look only for what
--   given-up calls gave; number of calls given up;
--   for each of those: claim id ('' for a turn that was acquired without a seed), serial number;
--   then, unless that first serial number is 0, all that the owner knows it holds: fingerprints, and `TOKEN HOST` of
--     turns (those that one claim acquired of several hosts have the same token). No claim may be under way then.
-- Returns {how many seeds became ready again that no given-up call had claimed; 1 if another call is to take more back,
--   else 0}.

local CALLS_FROM = 5  -- place in ARGV
local TAKEN_MAX = 100 -- seeds, and as many turns, taken back in one call: some 3 ms

local channel, owner, first_under_way, given_up = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local looks_for_all = first_under_way > 0
local given_up_claims, given_up_serials, known = {}, {}, {}
for i = CALLS_FROM, CALLS_FROM + 2 * given_up - 1, 2 do
  local serial = tonumber(ARGV[i + 1])
  given_up_claims[ARGV[i]], given_up_serials[serial] = true, true
  raise_fence(owner, serial)
end
for i = CALLS_FROM + 2 * given_up, #ARGV do known[ARGV[i]] = true end

-- Makes a held seed ready again as if it had not been claimed. Redis no longer knows when it was due, so it is due
-- since it was claimed.
local function take_back(fingerprint, value, further)
  local host, kinds = host_and_kinds(value, further)
  local claimed_at = tonumber(call('ZSCORE', execute, fingerprint) or now)
  call('ZREM', execute, fingerprint)
  call('HDEL', claims, fingerprint)
  call('SREM', held .. owner, fingerprint)
  book_all(kinds, 'executing', -1)
  make_ready(fingerprint, host, kinds, claimed_at)
end

-- Takes seeds back, TAKEN_MAX at most. Reads held:OWNER, `claims`, `seed` and `also`. Returns how many of given-up
-- claims, and how many others.
local function recall_seeds()
  local fingerprints = call('SMEMBERS', held .. owner)
  local claimed_under, values = read_all('HMGET', claims, fingerprints), read_all('HMGET', seed, fingerprints)
  local further, unanswered, forgotten = read_further(fingerprints), 0, 0
  for n, fingerprint in ipairs(fingerprints) do
    local value = values[n]
    if unanswered + forgotten == TAKEN_MAX then break end
    if value and given_up_claims[claimed_under[n]] then
      take_back(fingerprint, value, further[n])
      unanswered = unanswered + 1
    elseif value and looks_for_all and not known[fingerprint] then
      take_back(fingerprint, value, further[n])
      forgotten = forgotten + 1
    end
  end
  return unanswered, forgotten
end

-- Releases turns, TAKEN_MAX at most. Nothing was sent on the turn of a given-up call; when the last request on any
-- other was started, nobody knows, so it may have been now. Reads turns:OWNER; reads and writes the hosts' turns.
-- Returns how many.
local function recall_turns()
  local taken = 0
  for _, entry in ipairs(call('SMEMBERS', turns .. owner)) do
    local turn_token, host, serial = split_turn(entry)
    local is_forgotten = looks_for_all and host and not known[entry] and serial < first_under_way
    if taken == TAKEN_MAX then break end
    if host and given_up_serials[serial] or is_forgotten then
      taken = taken + 1
      local host_turns = turns_of(host)
      local next_start = not given_up_serials[serial] and now + politeness_of(host_turns) or nil
      release_turn(host_turns, owner, turn_token, next_start)
      update_host_in_both(host_turns)
    end
  end
  return taken
end

local unanswered, forgotten = recall_seeds()
local turns_taken = recall_turns()
flush_hosts()
flush_turns()
flush_ledger()
if unanswered + forgotten > 0 then call('PUBLISH', channel, 'release') end
return { forgotten, (unanswered + forgotten == TAKEN_MAX or turns_taken == TAKEN_MAX) and 1 or 0 }
