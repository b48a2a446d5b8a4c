-- Which seeds are finished.

local BUCKET_MAX = 120       -- of 128, where a listpack of 17 bytes an entry would become a skiplist of 37
local DEPTH_MAX = 32         -- bits of a fingerprint that may name its bucket

-- Finished fingerprints lie in a trie of small zsets: bucket 1 is the root, a full bucket I becomes 2I and 2I+1. Fingerprints are
-- uniform, so all buckets are at nearly the same depth, and a guess from their number is rarely off by more than one.
local function bucket_at(fp, depth)
  local a, b, c, d = string.byte(fp, 1, 4)
  return 2 ^ depth + math.floor((((a * 256 + b) * 256 + c) * 256 + d) / 2 ^ (DEPTH_MAX - depth))
end
local buckets_now, guess -- read once a call, kept by add_finished
local function guess_depth()
  if not guess then
    buckets_now = buckets_now or math.max(1, tonumber(call('HGET', counts, 'buckets') or '1'))
    guess = buckets_now == 1 and 0 or math.max(1, math.min(math.floor(math.log(buckets_now) / math.log(2) + 0.5), DEPTH_MAX))
  end
  return guess
end
-- The one bucket on the fingerprint's path that exists: looked for at the guess, then ever farther from it. Returns its number,
-- depth and size.
local function bucket_of(fp)
  local near = guess_depth()
  if near > 0 then
    for off = 0, DEPTH_MAX do
      for sign = 1, off == 0 and 1 or -1, -2 do
        local depth = near + sign * off
        if depth >= 0 and depth <= DEPTH_MAX then
          local index = bucket_at(fp, depth)
          local size = call('ZCARD', finish .. index)
          if size > 0 then return index, depth, size end
        end
      end
    end
  end
  return 1, 0, call('ZCARD', finish .. 1)
end
local function is_finished(fp)
  local first, member = bucket_at(fp, guess_depth()), string.sub(fp, 1, 8)
  if call('ZSCORE', finish .. first, member) then return true end
  local index = guess > 0 and bucket_of(fp) or 1
  return index ~= first and call('ZSCORE', finish .. index, member) ~= false
end
local function add_finished(fp)
  local index, depth, size = bucket_of(fp)
  call('ZADD', finish .. index, time[1], string.sub(fp, 1, 8))
  if size >= BUCKET_MAX and depth < DEPTH_MAX then
    local members, halves = call('ZRANGE', finish .. index, 0, -1, 'WITHSCORES'), { {}, {} }
    for i = 1, #members, 2 do
      local half = halves[bucket_at(members[i], depth + 1) == 2 * index and 1 or 2]
      half[#half + 1] = members[i + 1]
      half[#half + 1] = members[i]
    end
    if #halves[1] > 0 and #halves[2] > 0 then -- both must exist, or bucket_of would stop too early
      call('DEL', finish .. index)
      many('ZADD', finish .. 2 * index, halves[1])
      many('ZADD', finish .. 2 * index + 1, halves[2])
      buckets_now, guess = buckets_now + 1, nil
      call('HSET', counts, 'buckets', buckets_now)
    end
  end
end
