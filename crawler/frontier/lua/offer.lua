#!lua
-- Proposes seeds. What is ready, executing, failed or finished is refused and counted as known.
--
-- ARGV: wake channel; then per seed: fingerprint, stored value, due in ms ('0' means now).
-- Returns one byte per seed: '1' new, '0' known.

local fps, answer = {}, {}
for i = 2, #ARGV, 3 do fps[#fps + 1] = ARGV[i] end
local present = hmget(seed, fps)
local fresh, hosts_first, hosts_added, any, seen = {}, {}, {}, false, {}
for n, fp in ipairs(fps) do
  local value = ARGV[3 * n]
  local host, plan, site = head(value)
  book(plan, site, 'offered', 1)
  if present[n] or seen[fp] or is_finished(fp) then
    book(plan, site, 'known', 1)
    answer[n] = '0'
  else
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
    if #first == 0 or hosts_first[host] < tonumber(first[2]) then call('ZADD', hosts, 'LT', hosts_first[host], host) end
  end
  call('PUBLISH', ARGV[1], 'offer')
end
book_close()
return table.concat(answer)
