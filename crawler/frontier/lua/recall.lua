#!lua flags=allow-oom
-- Takes back what an owner holds without knowing: Redis has lost its last writes (a restart, a failover), and with them how those
-- claims ended. Nobody else would ever reclaim it, since the owner lives on.
--
-- ARGV: wake channel, owner, serial number (turns taken by this call or later ones are left alone); then the
--   fingerprints of the seeds and the turns (`TOKEN HOST`) that the owner knows of. One claim's turns of several hosts have the
--   same token.
-- Returns how many seeds became ready again.

local owner, before = ARGV[2], tonumber(ARGV[3])
local known = {}
for i = 4, #ARGV do known[ARGV[i]] = true end

local done = 0
local fps, unknown = call('SMEMBERS', held .. owner), {}
for _, fp in ipairs(fps) do
  if not known[fp] then unknown[#unknown + 1] = fp end
end
for n, value in ipairs(hmget(seed, unknown)) do
  if value then
    take_back(unknown[n], value, owner)
    done = done + 1
  end
end
for _, entry in ipairs(call('SMEMBERS', turns .. owner)) do
  local token, host = string.match(entry, '^(%d+) (.+)$')
  if token and not known[entry] and math.floor(tonumber(token) / TURN_STEP) < before then
    local state = turns_of(host)
    give_turn(state, owner, token, now + politeness_of(state)) -- when its last request started, nobody knows
    refresh_both(state)
  end
end
hosts_close()
turns_close()
book_close()
if done > 0 then call('PUBLISH', ARGV[1], 'release') end
return done
