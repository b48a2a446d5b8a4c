-- Which seeds are finished, and since when.
--
-- Hash finish: bucket number -> records of 12 bytes, each the first 8 bytes of a fingerprint and the second it was finished, big
-- endian (frontier/finished.py reads it, too). The buckets of all seeds in a call are read by one HMGET and written by one HSET;
-- a bucket is a few hundred bytes. They grow in number with what they hold, by linear hashing: bucket 0 is split first, then 1 and
-- so on, so that their number alone tells where a fingerprint lies, and nothing has to be looked for.

local RECORD = 12            -- bytes
local MEMBER = 8             -- bytes of a fingerprint: of forty crawls of a billion pages, one has two pages that share them
local FILL = 16              -- records in a bucket, on average: less costs memory, more costs copying
local BUCKETS_MAX = 2 ^ 32   -- a bucket is named by 32 bits of the fingerprint

local buckets, whole -- their number, and the power of two at or below it; read once a call, kept by add_finished
local function read_buckets()
  if buckets then return end
  buckets = math.floor(math.max(1, math.min(tonumber(call('HGET', counts, 'buckets') or '1'), BUCKETS_MAX)))
  whole = 1
  while whole * 2 <= buckets do whole = whole * 2 end
end
local function bucket_of(fp)
  local hash = struct.unpack('>I4', fp)
  local bucket = hash % (whole * 2)
  return bucket < buckets and bucket or hash % whole
end
-- Junk counts as nothing.
local function sound(packed) return packed and #packed % RECORD == 0 and packed or '' end
local function holds(packed, fp)
  local member, at = string.sub(fp, 1, MEMBER), 0
  repeat at = string.find(packed, member, at + 1, true) until not at or at % RECORD == 1
  return at ~= nil
end

-- Returns for each fingerprint whether it is finished.
local function are_finished(fps)
  if #fps == 0 then return {} end
  read_buckets()
  local numbers, answer = {}, {}
  for n, fp in ipairs(fps) do numbers[n] = text(bucket_of(fp)) end
  for n, packed in ipairs(hmget(finish, numbers)) do answer[n] = packed and holds(sound(packed), fps[n]) end
  return answer
end

-- Halves the next bucket that was not split yet: every second record of it, on average, goes into a new one.
local function split(packed)
  local old, new, both = text(buckets - whole), text(buckets), whole * 2
  local content, halves = packed[old] or sound(call('HGET', finish, old)), { [old] = {}, [new] = {} }
  buckets = buckets + 1
  if buckets == both then whole = both end
  for at = 1, #content, RECORD do
    local record = string.sub(content, at, at + RECORD - 1)
    local half = halves[text(bucket_of(record))]
    half[#half + 1] = record
  end
  for number, half in pairs(halves) do packed[number] = table.concat(half) end
end
local function add_finished(fps)
  if #fps == 0 then return end
  read_buckets()
  local stamp, numbers, packed = struct.pack('>I4', time[1]), {}, {}
  for n, fp in ipairs(fps) do numbers[n] = text(bucket_of(fp)) end
  for n, content in ipairs(hmget(finish, numbers)) do packed[numbers[n]] = sound(content) end
  for n, fp in ipairs(fps) do
    local content = packed[numbers[n]]
    if not holds(content, fp) then packed[numbers[n]] = content .. string.sub(fp, 1, MEMBER) .. stamp end
  end
  local before, total = buckets, tonumber(call('HGET', counts, 'finished') or '0') + #fps
  while buckets * FILL < total and buckets - before < #fps and buckets < BUCKETS_MAX do split(packed) end
  if buckets > before then call('HSET', counts, 'buckets', buckets) end
  local fields = {}
  for number, content in pairs(packed) do
    fields[#fields + 1] = number
    fields[#fields + 1] = content
  end
  many('HSET', finish, fields)
end
