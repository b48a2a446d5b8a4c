#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, ledger, turns, order, hosts, states, plans.
--
-- Gives seeds that aren't finished another priority for one of their plans. Those that are due move to their new place;
-- those that others hold keep it from when they are ready again.
--
-- ARGV: plan; priority; whether the plan says itself where its pages lead: '1', '0', or '' for as before. With a word
--   on that, which a plan has that was submitted anew, seeds keep what its scorer said; then fingerprints.
-- Returns {of how many seeds the plan has another priority now, how many of the fingerprints it came to}.

local HEAD_WORDS = 3
local plan, priority, general, changed, done, fingerprints = ARGV[1], ARGV[2], ARGV[3], 0, 0, {}
for i = HEAD_WORDS + 1, #ARGV do fingerprints[i - HEAD_WORDS] = ARGV[i] end

-- Returns what `seed` or a line of `also` holds, with the priority at the beginning of its JSON (lib/order.lua), and
-- with the key `g` or without it (crawler/base/models.py), which no string in JSON looks like: its quotes are escaped.
local function with_priority(stored)
  local at = string.find(stored, ' {"', 1, true)
  if not at then return stored end -- a damaged one, which its claimant fails
  if general ~= '' then
    stored = string.gsub(string.gsub(stored, '"g":true,', ''), ',"g":true', '')
    if general == '1' then stored = string.gsub(stored, '"u":"', '"g":true,%0', 1) end
    if string.find(stored, ',"y":"', 1, true) then return stored end
  end
  local rest = string.gsub(string.sub(stored, at + 2), '^"q":%d,', '')
  return string.sub(stored, 1, at + 1) .. '"q":' .. priority .. ',' .. rest
end

-- Returns a seed's value, and what `also` holds of it, with the plan's priority; nil where the plan doesn't want it.
-- Writes `seed` or `also`.
local function prioritized(fingerprint, value, further)
  if split_seed(value) == plan then
    value = with_priority(value)
    call('HSET', seed, fingerprint, value)
    return value, further
  end
  local lines, is_wanted = {}, false
  for line in string.gmatch(further or '', '[^\n]+') do
    local is_own = string.match(line, '^[^ ]+') == plan -- the line is `PLAN JSON`
    lines[#lines + 1] = is_own and with_priority(line) or line
    is_wanted = is_wanted or is_own
  end
  if not is_wanted then return nil end
  further = table.concat(lines, '\n')
  call('HSET', also, fingerprint, further)
  return value, further
end

local further_before = read_further(fingerprints)
for n, stored in ipairs(read_all('HMGET', seed, fingerprints)) do
  if not has_time() then break end
  local fingerprint = fingerprints[n]
  local value, further = nil, nil
  if stored then value, further = prioritized(fingerprint, stored, further_before[n]) end
  if value then
    local key = ready .. host_and_kinds(value)
    local score = tonumber(call('ZSCORE', key, fingerprint) or '0')
    if score < 0 then
      call('ZADD', key, text(order.score_of(order.rank_of(value, further), order.due_of(score))), fingerprint)
    end
    changed = changed + 1
  end
  done = n
end
return { changed, done }
