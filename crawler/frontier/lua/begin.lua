#!lua flags=allow-oom
-- Notes that a doubted seed is begun: should its worker die now, it is a suspect; those that only lay there remain doubted.
--
-- ARGV: fingerprint, claim id.
-- Returns 1, or 0: the claim is over.

local fp, claim = ARGV[1], ARGV[2]
if call('HGET', claims, fp) ~= claim then return 0 end
call('HSET', crashes, fp, BEGUN)
return 1
