-- The plans that want a seed, and what their pauses and cancellations mean for it.
--
-- Gives the scripts: `read_further`, `further_of`, `state_of_plan`, `stop_of`, `are_cancelled`, `keep_plans`,
-- `note_cancelled`, `obey_stops`, `unpark_if_wanted`.
--
-- A seed is crawled as long as one plan that wants it is active. A paused plan leaves it to the others, a cancelled one
-- is taken away from it. Seeds that are executing end by themselves.

local is_any_shared -- whether `also` exists; known once it was asked

-- Returns what `also` holds of some seeds, in their order; false for a seed that one plan alone wants. Most crawls have
-- no others, and pay one EXISTS.
local function read_further(fingerprints)
  if is_any_shared == nil then is_any_shared = call('EXISTS', also) == 1 end
  return is_any_shared and read_all('HMGET', also, fingerprints) or {}
end

-- Returns what `also` holds of one seed; false for nothing.
local function further_of(fingerprint) return read_further({ fingerprint })[1] or false end

-- Returns a plan's state, 'active', 'paused', 'cancelled' or 'deleted', and its newest edition; '' and 0 for one that
-- this partition wasn't told of, which goes on. Reads `plan_states`.
local state_of_plan
-- Returns whether a plan is stopped: 'pause', 'cancel', or nil.
local stop_of
do -- a script has at most 200 locals at once
  local states, editions, STOPS = {}, {}, { paused = 'pause', cancelled = 'cancel' }
  function state_of_plan(plan)
    if not states[plan] then
      local edition, state = string.match(call('HGET', plan_states, plan) or '', '^%d+ (%d+) (%a+)$')
      states[plan], editions[plan] = state or '', tonumber(edition or '0')
    end
    return states[plan], editions[plan]
  end
  function stop_of(plan) return STOPS[state_of_plan(plan)] end
end

-- Returns whether all plans that want a seed are cancelled.
local function are_cancelled(kinds)
  for _, kind in ipairs(kinds) do
    if stop_of(kind.plan) ~= 'cancel' then return false end
  end
  return true
end

-- Returns the site and interval of a stored seed, and a line `PLAN JSON` for each plan that wants it; dashes for a
-- damaged one, which stays so: its claimant fails it.
local function parts_of(value, further)
  local plan, words, json = split_seed(value)
  if not plan then plan, words, json = '-', '- 0', '' end
  return words, plan .. ' ' .. json .. (further and '\n' .. further or '')
end

-- Notes for each cancelled plan of a seed that the seed is others' from now on. Writes cancelled:PLAN.
local function note_cancelled(fingerprint, value, further)
  local host = host_and_kinds(value)
  local words, lines = parts_of(value, further)
  for plan, rest in string.gmatch(lines, '([^ \n]+)([^\n]*)') do
    if stop_of(plan) == 'cancel' then
      call('HSET', cancelled .. plan, fingerprint, host .. ' ' .. plan .. ' ' .. words .. rest)
    end
  end
end

-- Takes all plans but some away from a seed; the first of those that are kept becomes its first plan. `kept`: plan ->
-- true, at least one of the seed's; `host`: the one to store. Writes `seed`, `also` and wanted:PLAN. Returns the seed's
-- value, what `also` holds, and its kinds from now on.
local function keep_plans(fingerprint, value, further, kept, host)
  local words, lines = parts_of(value, further)
  local first, others = nil, {}
  for name, rest in string.gmatch(lines, '([^ \n]+)([^\n]*)') do
    if not kept[name] then
      call('SREM', wanted .. name, fingerprint)
    elseif not first then
      first = host .. ' ' .. name .. ' ' .. words .. rest
    else
      others[#others + 1] = name .. rest
    end
  end
  call('HSET', seed, fingerprint, first)
  local left = #others > 0 and table.concat(others, '\n')
  if left then call('HSET', also, fingerprint, left) else call('HDEL', also, fingerprint) end
  local _, kinds = host_and_kinds(first, left)
  return first, left, kinds
end

-- Does to a seed that waits what the stops of its plans ask for. Cancelled plans are taken away from it. Where all are
-- cancelled, it fails; where all that are left are paused, it is parked, or stays so. `is_parked`: it is parked now; by
-- default it is ready. Returns nil for a seed that is set aside: the caller takes one that was ready out of ready:HOST
-- or `quarantine`. Returns for any other its value, what `also` holds, and its kinds: the caller unparks one that is
-- parked.
local function obey_stops(fingerprint, value, further, kinds, due, is_parked)
  local leaving, kept, is_active = {}, {}, false
  for _, kind in ipairs(kinds) do
    local stop = stop_of(kind.plan)
    if stop == 'cancel' then leaving[#leaving + 1] = kind else kept[kind.plan] = true end
    is_active = is_active or not stop
  end
  if is_active and #leaving == 0 then return value, further, kinds end
  local function book_out(some)
    if is_parked then book_all(some, 'parked', -1) else book_ready(fingerprint, some, -1) end
  end
  if not next(kept) then
    book_out(kinds)
    if is_parked then call('ZREM', parked, fingerprint) end
    make_failed(fingerprint, kinds, 'cancelled')
    return nil
  end
  if #leaving > 0 then
    book_out(leaving)
    book_all(leaving, 'failed', 1)
    book_all(leaving, 'failed:cancelled', 1)
    note_cancelled(fingerprint, value, further)
    value, further, kinds = keep_plans(fingerprint, value, further, kept, (host_and_kinds(value)))
  end
  if is_active then return value, further, kinds end
  if not is_parked then
    book_out(kinds)
    book_all(kinds, 'parked', 1)
    call('ZADD', parked, due, fingerprint)
  end
  return nil
end

-- Makes a parked seed ready if one of its plans isn't stopped. Returns whether it did.
local function unpark_if_wanted(fingerprint, host, kinds, value, further)
  for _, kind in ipairs(kinds) do
    local due = not stop_of(kind.plan) and call('ZSCORE', parked, fingerprint)
    if due then
      call('ZREM', parked, fingerprint)
      book_all(kinds, 'parked', -1)
      make_ready(fingerprint, host, kinds, tonumber(due), value, further)
      return true
    end
  end
  return false
end
