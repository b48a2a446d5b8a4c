#!lua flags=allow-oom
-- Needs: keys, values, clock, turns, order, hosts, browsers.
--
-- Tells this partition whether all pages of a site are rendered. Where they aren't any more, hosts that were left to
-- workers with a browser are put where all look for them, some at a time: call again while any are left. Who dies in
-- between leaves a mark, by which the next call for any site goes on with that.
--
-- ARGV: site; 1 if its pages of this frontier are rendered, else 0.
-- Returns whether hosts are left to be put there, as 1 or 0.

local MAX_MOVES = 1000 -- most hosts that one call moves: some 2 ms
local MOVING = frontier .. ' ' -- stands in `browser_sites` for a site without a name: hosts are being moved

local entry = frontier .. ' ' .. ARGV[1]
if ARGV[2] == '1' then
  call('SADD', browser_sites, entry)
elseif call('SREM', browser_sites, entry) == 1 then
  call('SADD', browser_sites, MOVING)
end
if call('SISMEMBER', browser_sites, MOVING) == 0 then return 0 end

local left = call('ZRANGE', hosts, text(FOR_BROWSERS), '+inf', 'BYSCORE', 'LIMIT', 0, MAX_MOVES, 'WITHSCORES')
for i = 1, #left, 2 do place_host(hosts, left[i], tonumber(left[i + 1]) - FOR_BROWSERS) end
flush_hosts()
if #left == 2 * MAX_MOVES then return 1 end
call('SREM', browser_sites, MOVING)
return 0
