#!lua flags=allow-oom
-- Needs: keys, values, clock, receipts.
--
-- Tells this partition the state of a plan: whether its seeds may be claimed, and whether there is such a plan at all.
--
-- Of two states the one with the higher version counts, in whatever order they arrive: a command that was slow, or that
-- died and is repeated, can't undo what a later one has said. A deleted plan's state stays for a while, so that nothing
-- that is still under way for the plan brings it back.
--
-- ARGV: plan; version; edition; state: `active`, `paused`, `cancelled` or `deleted`.
-- Returns the version that counts from now on.

local DELETED_MS = 604800000 -- how long a deleted plan's state stays: no page is under way for a week
local MAX_LOOK = 100 -- most states that are looked at in one call: more than one deletion brings, so that none is left

local plan, version, edition, state = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local known_version = tonumber(string.match(call('HGET', plan_states, plan) or '', '^(%d+) ') or '0')
if known_version > version then return known_version end

if state == 'deleted' then -- a good moment to look at some of them
  local flat = call('HRANDFIELD', plan_states, MAX_LOOK, 'WITHVALUES')
  for i = 1, #flat, 2 do
    local at = tonumber(string.match(flat[i + 1], '^(%d+) %d+ deleted$') or now_text) -- versions are times
    if at < now - DELETED_MS then call('HDEL', plan_states, flat[i]) end
  end
end
void_receipts()
call('HSET', plan_states, plan, text(version) .. ' ' .. edition .. ' ' .. state)
return version
