-- Which seeds are finished.

local BUCKET_MAX = 120       -- of 128, where a listpack of 17 bytes an entry would become a skiplist of 37

-- Finished fingerprints lie in a trie of small zsets: bucket 1 is the root, a full bucket I becomes 2I and 2I+1. Fingerprints are
-- uniform, so all buckets are at nearly the same depth, and a guess from their number is rarely off by more than one.
local function bucket_at(fp, depth)
  local a, b, c, d = string.byte(fp, 1, 4)
  return 2 ^ depth + math.floor((((a * 256 + b) * 256 + c) * 256 + d) / 2 ^ (32 - depth))
end
local function bucket_key(index) return finish .. string.format('%.0f', index) end
local buckets_now -- read once a call, kept by add_finished
local function guess_depth()
  buckets_now = buckets_now or tonumber(call('HGET', counts, 'buckets') or '1')
  return buckets_now == 1 and 0 or math.max(1, math.min(math.floor(math.log(buckets_now) / math.log(2) + 0.5), 32))
end
-- The one bucket on the fingerprint's path that exists: looked for at the guess, then ever farther from it.
local function bucket_of(fp)
  local guess = guess_depth()
  if guess > 0 then
    for off = 0, 32 do
      for sign = 1, off == 0 and 1 or -1, -2 do
        local depth = guess + sign * off
        if depth >= 0 and depth <= 32 then
          local index = bucket_at(fp, depth)
          if call('EXISTS', bucket_key(index)) == 1 then return index, depth end
        end
      end
    end
  end
  return 1, 0
end
local function is_finished(fp)
  local index = bucket_of(fp)
  return call('ZSCORE', bucket_key(index), string.sub(fp, 1, 8)) ~= false
end
local function add_finished(fp)
  local index, found = bucket_of(fp)
  local key = bucket_key(index)
  call('ZADD', key, tonumber(time[1]), string.sub(fp, 1, 8))
  if call('ZCARD', key) > BUCKET_MAX and found < 32 then
    local members, halves = call('ZRANGE', key, 0, -1, 'WITHSCORES'), { {}, {} }
    for i = 1, #members, 2 do
      local half = halves[bucket_at(members[i], found + 1) == 2 * index and 1 or 2]
      half[#half + 1] = members[i + 1]
      half[#half + 1] = members[i]
    end
    if #halves[1] > 0 and #halves[2] > 0 then -- both must exist, or bucket_of would stop too early
      call('DEL', key)
      many('ZADD', bucket_key(2 * index), halves[1])
      many('ZADD', bucket_key(2 * index + 1), halves[2])
      buckets_now = buckets_now + 1
      call('HSET', counts, 'buckets', buckets_now)
    end
  end
end
