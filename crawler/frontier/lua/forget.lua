#!lua flags=allow-oom
-- Forgets a plan: its failed seeds and its ledger. Finished fingerprints stay known.
--
-- ARGV: plan, site; then fingerprints of its failed seeds.
-- Returns 1 when the ledger is gone, 0 when seeds of it are still ready or executing, in either frontier (then nothing is touched).

local plan, site = ARGV[1], ARGV[2]
local page = ledger .. plan .. ':' .. site
for _, frontier in ipairs({ 'nav', 'content' }) do
  for _, state in ipairs({ 'ready', 'parked', 'executing' }) do
    if tonumber(call('HGET', page, frontier .. ':' .. state) or '0') ~= 0 then return 0 end
  end
end
for i = 3, #ARGV do
  local value = call('ZSCORE', fail, ARGV[i]) and call('HGET', seed, ARGV[i])
  if value then
    local _, kind = head(value)
    if kind.plan == plan and kind.site == site then
      call('ZREM', fail, ARGV[i])
      call('HDEL', seed, ARGV[i])
      call('HDEL', reasons, ARGV[i])
      call('SREM', scheduled, ARGV[i])
    end
  end
end
for _, state in ipairs({ 'offered', 'known', 'finished', 'failed' }) do
  local amount = tonumber(call('HGET', page, F .. ':' .. state) or '0')
  if amount ~= 0 then add(counts, 'deleted:' .. state, amount) end
end
for _, field in ipairs(call('HKEYS', page)) do
  if string.sub(field, 1, #F + 1) == F .. ':' then call('HDEL', page, field) end
end
if call('EXISTS', page) == 0 then call('SREM', ledgers, plan .. ' ' .. site) end
return 1
