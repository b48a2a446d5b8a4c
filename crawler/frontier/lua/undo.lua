#!lua flags=allow-oom
-- Takes back what calls of an owner gave whose answers never arrived, as if they had not been made: the owner lives on and
-- renews its session, so nobody else would ever reclaim it. Calls still on their way are void from now on.
--
-- ARGV: wake channel, owner; then per call: claim id ('' for a borrowed turn), serial number.
-- Returns how many seeds became ready again.

local FENCE_MS = 3600000 -- no call is on its way for longer

local owner = ARGV[2]
local lost_claims, lost_serials = {}, {}
local highest = tonumber(call('GET', fence .. owner) or '0')
for i = 3, #ARGV, 2 do
  lost_claims[ARGV[i]], lost_serials[tonumber(ARGV[i + 1])] = true, true
  highest = math.max(highest, tonumber(ARGV[i + 1]))
end
call('SET', fence .. owner, text(highest), 'PX', FENCE_MS)

local done = 0
local fps = call('SMEMBERS', held .. owner)
local under, values = hmget(claims, fps), hmget(seed, fps)
for n, fp in ipairs(fps) do
  if lost_claims[under[n]] and values[n] then
    take_back(fp, values[n], owner)
    done = done + 1
  end
end
for _, entry in ipairs(call('SMEMBERS', turns .. owner)) do
  local token, host = string.match(entry, '^(%d+) (.+)$')
  if token and lost_serials[math.floor(tonumber(token) / TURN_STEP)] then
    local state = turns_of(host)
    give_turn(state, owner, token, nil)
    refresh_both(state)
  end
end
hosts_close()
turns_close()
book_close()
if done > 0 then call('PUBLISH', ARGV[1], 'release') end
return done
