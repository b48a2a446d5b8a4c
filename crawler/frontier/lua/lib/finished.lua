-- Which seeds are finished, and since when: hash `finish`. frontier/finished.py reads it, too.
--
-- Gives the scripts: `are_finished`, `add_finished`.
--
-- A finished seed is a record of 12 bytes: the first 8 bytes of its fingerprint, and the second at which it was
-- finished, big endian. Records lie packed in buckets, which are the fields of the hash, named by their numbers from 0.
-- The buckets that a call needs are read by one HMGET and written by one HSET; each is a few hundred bytes.
--
-- The number of buckets (`buckets` in `counts`) grows with the number of records by linear hashing (W. Litwin, 1980):
-- bucket 0 is split first, then 1, and so on. So the number of buckets alone tells in which one a fingerprint lies.

local RECORD_BYTES = 12
local MEMBER_BYTES = 8        -- of a fingerprint: of forty crawls of a billion pages, one has two pages that share them
local RECORDS_PER_BUCKET = 16 -- on average: fewer would cost memory, more would cost copying
local BUCKETS_MAX = 2 ^ 32    -- a bucket is found by 32 bits of the fingerprint

local buckets, whole -- the number of buckets, and the power of two at or below it; read when they are first needed
local function read_buckets()
  if buckets then return end
  buckets = math.floor(math.max(1, math.min(tonumber(call('HGET', counts, 'buckets') or '1'), BUCKETS_MAX)))
  whole = 1
  while whole * 2 <= buckets do whole = whole * 2 end
end

-- Returns the number of the bucket for a fingerprint, or for a record, which begins like one.
local function bucket_of(fingerprint)
  local hash = struct.unpack('>I4', fingerprint)
  local bucket = hash % (whole * 2)
  return bucket < buckets and bucket or hash % whole
end

-- Returns a bucket's content; nothing where it is junk or missing.
local function records_in(packed) return packed and #packed % RECORD_BYTES == 0 and packed or '' end

local function holds(records, fingerprint)
  local member, at = string.sub(fingerprint, 1, MEMBER_BYTES), 0
  repeat at = string.find(records, member, at + 1, true) until not at or at % RECORD_BYTES == 1
  return at ~= nil
end

local function bucket_names(fingerprints)
  local names = {}
  for n, fingerprint in ipairs(fingerprints) do names[n] = text(bucket_of(fingerprint)) end
  return names
end

-- Returns for each fingerprint whether it is finished. Reads `finish` and `counts`.
local function are_finished(fingerprints)
  if #fingerprints == 0 then return {} end
  read_buckets()
  local answers = {}
  for n, packed in ipairs(read_all('HMGET', finish, bucket_names(fingerprints))) do
    answers[n] = packed and holds(records_in(packed), fingerprints[n])
  end
  return answers
end

-- Splits the next bucket in `contents` (bucket name -> records): on average, every second record goes to a new bucket.
local function split_bucket(contents)
  local old, new, doubled = text(buckets - whole), text(buckets), whole * 2
  local records, halves = contents[old] or records_in(call('HGET', finish, old)), { [old] = {}, [new] = {} }
  buckets = buckets + 1
  if buckets == doubled then whole = doubled end
  for at = 1, #records, RECORD_BYTES do
    local record = string.sub(records, at, at + RECORD_BYTES - 1)
    local half = halves[text(bucket_of(record))]
    half[#half + 1] = record
  end
  for name, half in pairs(halves) do contents[name] = table.concat(half) end
end

-- Adds fingerprints as finished now. Writes `finish`, and `counts` where the number of buckets grows.
local function add_finished(fingerprints)
  if #fingerprints == 0 then return end
  read_buckets()
  local stamp, names, contents = struct.pack('>I4', now_s), bucket_names(fingerprints), {}
  for n, packed in ipairs(read_all('HMGET', finish, names)) do contents[names[n]] = records_in(packed) end
  for n, fingerprint in ipairs(fingerprints) do
    local records = contents[names[n]]
    if not holds(records, fingerprint) then
      contents[names[n]] = records .. string.sub(fingerprint, 1, MEMBER_BYTES) .. stamp
    end
  end
  local before, total = buckets, tonumber(call('HGET', counts, 'finished') or '0') + #fingerprints
  while buckets * RECORDS_PER_BUCKET < total and buckets - before < #fingerprints and buckets < BUCKETS_MAX do
    split_bucket(contents)
  end
  if buckets > before then call('HSET', counts, 'buckets', buckets) end
  local fields = {}
  for name, records in pairs(contents) do
    fields[#fields + 1] = name
    fields[#fields + 1] = records
  end
  write_all('HSET', finish, fields)
end
