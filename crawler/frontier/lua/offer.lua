#!lua
-- Proposes seeds. What is ready, executing, failed or finished is refused and counted as known. What is beyond a host's budget
-- of followed links was never offered: it is counted as over-budget and nowhere else.
--
-- ARGV: wake channel; then per seed: fingerprint, stored value, due in ms ('0' means now); then, for followed links only, the
-- budget of each host, as 'SEEDS WINDOW_MS'.
-- Returns one byte per seed: '1' new, '0' known, '2' over budget.

local fps, answer = {}, {}
for i = 2, #ARGV - 2, 3 do fps[#fps + 1] = ARGV[i] end
local budget, window_ms = string.match(#ARGV % 3 == 2 and ARGV[#ARGV] or '', '^(%d+) (%d+)$')
local taken, taking = {}, {} -- per host: followed seeds until now, and with this call
local function is_over_budget(host)
  if not budget then return false end
  taken[host] = taken[host] or tonumber(call('GET', followed .. host) or '0')
  if taken[host] + (taking[host] or 0) >= tonumber(budget) then return true end
  taking[host] = (taking[host] or 0) + 1
  return false
end
local present = hmget(seed, fps)
local fresh, hosts_first, hosts_added, any, seen = {}, {}, {}, false, {}
for n, fp in ipairs(fps) do
  local value = ARGV[3 * n]
  local host, plan, site = head(value)
  if present[n] or seen[fp] or is_finished(fp) then
    book(plan, site, 'offered', 1)
    book(plan, site, 'known', 1)
    answer[n] = '0'
  elseif is_over_budget(host) then
    book(plan, site, 'over-budget', 1)
    answer[n] = '2'
  else
    book(plan, site, 'offered', 1)
    local due = tonumber(ARGV[3 * n + 1])
    if due == 0 then due = now end
    seen[fp], any = true, true
    fresh[#fresh + 1] = fp
    fresh[#fresh + 1] = value
    local added = hosts_added[host]
    if not added then added = {}; hosts_added[host] = added end
    added[#added + 1] = due
    added[#added + 1] = fp
    hosts_first[host] = math.min(hosts_first[host] or due, due)
    book(plan, site, 'ready', 1)
    answer[n] = '1'
  end
end
if any then
  many('HSET', seed, fresh)
  for host, added in pairs(hosts_added) do
    local first = call('ZRANGE', ready .. host, 0, 0, 'WITHSCORES')
    many('ZADD', ready .. host, added)
    -- With older seeds waiting, the host already has its place.
    if #first == 0 or hosts_first[host] < tonumber(first[2]) or not call('ZSCORE', hosts, host) then call('ZADD', hosts, 'LT', hosts_first[host], host) end
  end
  for host, number in pairs(taking) do
    if call('INCRBY', followed .. host, number) == number then call('PEXPIRE', followed .. host, window_ms) end
  end
  call('PUBLISH', ARGV[1], 'offer')
end
book_close()
return table.concat(answer)
