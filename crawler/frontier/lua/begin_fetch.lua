#!lua flags=allow-oom
-- Needs: keys, values, clock, ledger, turns, order, hosts, states.
--
-- Notes that the fetch of a suspected seed begins: should its worker die from now on, the seed is quarantined. Those
-- that the worker only holds stay suspected.
--
-- ARGV: fingerprint, claim id.
-- Returns 1; or 0 when the claim is over.

local fingerprint, claim = ARGV[1], ARGV[2]
if call('HGET', claims, fingerprint) ~= claim then return 0 end
call('HSET', crashes, fingerprint, SUSPECTED_BEGUN)
return 1
