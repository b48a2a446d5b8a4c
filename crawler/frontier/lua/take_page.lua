#!lua
-- Needs: values, held_pages.
--
-- Takes a page of a plan's budget, if each bound has room for it. A page that was taken for the same claim stays taken
-- once: the answer to the call before may have been lost.
--
-- KEYS: as in lib/held_pages.lua.
-- ARGV: plan; fingerprint; claim; a claim before this one that ended without a use of the page ('': of none is that
--   known); the time, in s; the plan's edition; its bound of seconds ('': none);
--   for each bound: name; the field that it counts by; the most ('': no bound); 1 if it counts pages, 0 if it counts
--   what they bring
-- Returns {'' or the name of the bound that has no room, ''}; or {'held', the other claim for which it is in flight};
--   or {'deleted', ''}: there is no such plan any more, whose budget nobody would delete.

local HEAD_WORDS, BOUND_WORDS = 7, 4 -- how many of ARGV each part takes

local plan, fingerprint, claim, over_claim, asked_s, edition, seconds = unpack(ARGV, 1, HEAD_WORDS)
if not call('HGET', plan_records, plan) then return { 'deleted', '' } end
local holder, entry = holder_of(fingerprint)
if holder == claim then return { '', '' } end
if holder and holder ~= over_claim then return { 'held', holder } end
if holder then let_go(fingerprint, entry, false) end
call('HSETNX', plan_budget, 'began ' .. edition, asked_s)
local taken = {}
for at = HEAD_WORDS + 1, #ARGV, BOUND_WORDS do
  local name, field, most, is_of_pages = unpack(ARGV, at, at + BOUND_WORDS - 1)
  if most ~= '' and tonumber(call('HGET', plan_budget, field) or '0') >= tonumber(most) then return { name, '' } end
  if is_of_pages == '1' then taken[#taken + 1] = field end
end
local began_s = tonumber(call('HGET', plan_budget, 'began ' .. edition))
if seconds ~= '' and tonumber(asked_s) - began_s >= tonumber(seconds) then return { 'seconds', '' } end
for _, field in ipairs(taken) do increment(plan_budget, field, 1) end
call('HSET', held_pages, fingerprint, claim .. '\n' .. table.concat(taken, '\n'))
return { '', '' }
