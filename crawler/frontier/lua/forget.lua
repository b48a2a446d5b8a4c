#!lua flags=allow-oom
-- Needs: keys, values.
--
-- Forgets a plan's ledger on a site. drop.lua has dropped its failed seeds before; its finished seeds stay known.
--
-- ARGV: plan, site.
-- Returns 1; or 0 when seeds of it are still ready or executing in either frontier: then nothing was touched.

local plan, site = ARGV[1], ARGV[2]
local plan_ledger = ledger .. plan .. ':' .. site
for _, name in ipairs({ 'nav', 'content' }) do
  for _, state in ipairs({ 'ready', 'parked', 'executing' }) do
    if tonumber(call('HGET', plan_ledger, name .. ':' .. state) or '0') ~= 0 then return 0 end
  end
end
-- `counts` goes on to reconcile: what it holds of the plan, the sums of both `STATE` and `deleted:STATE` say.
for _, state in ipairs({ 'offered', 'known', 'finished', 'failed' }) do
  local seeds = tonumber(call('HGET', plan_ledger, frontier .. ':' .. state) or '0')
  if seeds ~= 0 then increment(counts, 'deleted:' .. state, seeds) end
end
for _, field in ipairs(call('HKEYS', plan_ledger)) do
  if string.sub(field, 1, #frontier + 1) == frontier .. ':' then call('HDEL', plan_ledger, field) end
end
if call('EXISTS', plan_ledger) == 0 then call('SREM', ledgers, plan .. ' ' .. site) end
return 1
