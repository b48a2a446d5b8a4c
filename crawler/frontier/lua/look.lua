#!lua flags=allow-oom
-- Needs: keys, values, clock, browsers.
--
-- Tells how one frontier of the partition stands, at a cost that doesn't grow with its seeds and hosts. Writes nothing.
--
-- Returns {the time by the partition's clock, in ms since the epoch; `counts`, as a flat list of names and numbers; how
--   many hosts have ready seeds; how many of those could be claimed from now; since when the first of those could, in
--   ms since the epoch, 0 where there is none; how many seeds are executing; how many are quarantined; how many turns
--   are held in both frontiers together}.

local hosts_number = call('ZCARD', hosts)

-- The scores rise, so the hosts that could be claimed from come first: as many as a search by halves finds. ZCOUNT
-- would say it, too, but is a right that users of earlier versions don't have.
local function score_at(place) return tonumber(call('ZRANGE', hosts, place, place, 'WITHSCORES')[2]) end
local function number_until(score)
  local number, beyond = 0, hosts_number
  while number < beyond do
    local middle = math.floor((number + beyond) / 2)
    if score_at(middle) <= score then number = middle + 1 else beyond = middle end
  end
  return number
end
local due_number = number_until(now)
local first_at = due_number > 0 and score_at(0) or 0
if hosts_number > 0 and score_at(hosts_number - 1) >= FOR_BROWSERS then -- those left to workers with a browser
  local before = number_until(FOR_BROWSERS - 1)
  local left_number = number_until(FOR_BROWSERS + now) - before
  local left_at = left_number > 0 and score_at(before) - FOR_BROWSERS or math.huge
  if left_number > 0 then first_at = due_number > 0 and math.min(first_at, left_at) or left_at end
  due_number = due_number + left_number
end

local turns_held = 0
for _, owner in ipairs(call('ZRANGE', sessions, 0, -1)) do turns_held = turns_held + call('SCARD', turns .. owner) end

return {
  now, call('HGETALL', counts), hosts_number, due_number, first_at, call('ZCARD', execute), call('ZCARD', quarantine),
  turns_held,
}
