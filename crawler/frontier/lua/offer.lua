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
local present, unknown = hmget(seed, fps), {}
for n, fp in ipairs(fps) do
  if not present[n] then unknown[#unknown + 1] = fp end
end
local finished = {}
for n, is in ipairs(are_finished(unknown)) do finished[unknown[n]] = is end
local fresh, hosts_first, hosts_added, any, seen = {}, {}, {}, false, {}
for n, fp in ipairs(fps) do
  local value = ARGV[3 * n]
  local host, kind = head(value)
  if present[n] or seen[fp] or finished[fp] then
    book(kind, 'offered', 1)
    book(kind, 'known', 1)
    answer[n] = '0'
  elseif is_over_budget(host) then
    book(kind, 'over-budget', 1)
    answer[n] = '2'
  else
    book(kind, 'offered', 1)
    local due_text = ARGV[3 * n + 1]
    local due = tonumber(due_text)
    if due == 0 then due, due_text = now, now_text end
    seen[fp], any = true, true
    fresh[#fresh + 1] = fp
    fresh[#fresh + 1] = value
    local added = hosts_added[host]
    if not added then added = {}; hosts_added[host] = added end
    added[#added + 1] = due_text
    added[#added + 1] = fp
    hosts_first[host] = math.min(hosts_first[host] or due, due)
    book(kind, 'ready', 1)
    answer[n] = '1'
  end
end
if any then
  many('HSET', seed, fresh)
  local names, places = {}, {}
  for host in pairs(hosts_added) do names[#names + 1] = host end
  for from = 1, #names, UNPACK_MAX do
    for n, at in ipairs(call('ZMSCORE', hosts, unpack(names, from, math.min(from + UNPACK_MAX - 1, #names)))) do places[names[from + n - 1]] = at end
  end
  for host, added in pairs(hosts_added) do
    local at, due = places[host], hosts_first[host]
    -- With older seeds waiting, the host already has its place, be it later since its turns are taken.
    local older = at and due < tonumber(at) and first_due_of(ready, host)
    if not at or due < tonumber(at) and (not older or due < older) then place(hosts, host, due, true) end
    many('ZADD', ready .. host, added)
  end
  hosts_close()
  for host, number in pairs(taking) do
    if call('INCRBY', followed .. host, number) == number then call('PEXPIRE', followed .. host, window_ms) end
  end
  call('PUBLISH', ARGV[1], 'offer')
end
book_close()
return table.concat(answer)
