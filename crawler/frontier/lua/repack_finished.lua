#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, finished.
--
-- Moves finished seeds of format 3 of the frontier, some of its last buckets, to where this format has them: for
-- `scrapy frontier migrate`. It does nothing where there are none. `buckets` in `counts` says how many are left.
--
-- KEYS: behind those of a partition, the hash in which format 3 has them.
-- Returns how many buckets are left.

-- How many buckets are read at once: 24 records of 14 bytes each, as a rule.
local BUCKETS_AT_ONCE = 16
local RECORD_BYTES = 14

local old = KEYS[#KEYS]
local left = call('EXISTS', old) == 1 and math.max(1, tonumber(call('HGET', counts, 'buckets') or '1')) or 0
while left > 0 and has_time() do
  local names, records = {}, {}
  for bucket = math.max(0, left - BUCKETS_AT_ONCE), left - 1 do names[#names + 1] = text(bucket) end
  for _, packed in ipairs(call('HMGET', old, unpack(names))) do
    if packed and #packed % RECORD_BYTES == 0 then
      for at = 1, #packed, RECORD_BYTES do records[#records + 1] = string.sub(packed, at, at + RECORD_BYTES - 1) end
    end
  end
  add_packed_records(records)
  call('HDEL', old, unpack(names))
  left = left - #names
end
if left > 0 and call('EXISTS', old) == 1 then
  call('HSET', counts, 'buckets', text(left))
else
  left = 0
  call('DEL', old)
  call('HDEL', counts, 'buckets')
end
return left
