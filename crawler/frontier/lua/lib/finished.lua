-- Which seeds are finished, for which plan, and since when: hash `finish`. frontier/finished.py reads it, too.
--
-- Gives the scripts: `look_up_finished`, `add_finished`, `number_of_buckets`, `drop_finished`,
-- `reopen_finished`.
--
-- For each plan that wanted it, a finished seed is a record of 14 bytes, all of them big endian:
--   8 bytes  the first of its fingerprint
--   3 bytes  when it was finished: the first of the 4 bytes of the second since the epoch, so exact to 256 s
--   3 bytes  twice the plan's number (`plan_numbers`), plus 1: of a content page if it can be told of, since it became
--            one item and led nowhere else; of a search page if it is of a scheduled run, which ends
-- Records lie packed in buckets, which are the fields of the hash, named by their numbers from 0. The buckets that a
-- call needs are read by one HMGET and written by one HSET; each is a few hundred bytes.
--
-- The number of buckets (`buckets` in `counts`) grows with the number of records by linear hashing (W. Litwin, 1980):
-- bucket 0 is split first, then 1, and so on. So the number of buckets alone tells in which one a fingerprint lies.

local RECORD_BYTES = 14
-- How much of a fingerprint is kept: of forty crawls of a billion pages each, one has two pages that share it.
local MEMBER_BYTES = 8
local TIME_BYTES = 3
local MAX_PLANS = 2 ^ 23 - 1 -- most plans: their numbers fit into a record, and a partition never sees so many
-- How many records a bucket has on average: fewer would cost memory, more would cost copying.
local RECORDS_PER_BUCKET = 24
local MAX_BUCKETS = 2 ^ 32 -- most buckets: one is found by 32 bits of the fingerprint

local buckets, whole -- the number of buckets, and the power of two at or below it; read when they are first needed
local function read_buckets()
  if buckets then return end
  buckets = math.floor(math.max(1, math.min(tonumber(call('HGET', counts, 'buckets') or '1'), MAX_BUCKETS)))
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

local numbers = {} -- plan -> its number, 0 where it has none yet

-- Returns a plan's number; where it has none yet, 0, or a new one if `may_add` is set. Reads and writes `plan_numbers`.
local function number_of(plan, may_add)
  local number = numbers[plan] or tonumber(call('HGET', plan_numbers, plan) or '0')
  if number == 0 and may_add then
    number = math.min(call('HLEN', plan_numbers) + 1, MAX_PLANS)
    call('HSET', plan_numbers, plan, number)
  end
  numbers[plan] = number
  return number
end

-- Returns what a bucket holds of a fingerprint: 'known' (finished for the plan with this number), 'delivered' (for
-- others, who can be told of), 'done' (for others, whose page has to be fetched again), or nil.
local function look_up(records, fingerprint, number)
  local member, answer = string.sub(fingerprint, 1, MEMBER_BYTES), nil
  local at = string.find(records, member, 1, true)
  while at do
    if at % RECORD_BYTES == 1 then
      local high, middle, low = string.byte(records, at + MEMBER_BYTES + TIME_BYTES, at + RECORD_BYTES - 1)
      local mark = (high * 256 + middle) * 256 + low
      if math.floor(mark / 2) == number then return 'known' end
      if mark % 2 == 1 then answer = 'delivered' end
      answer = answer or 'done'
    end
    at = string.find(records, member, at + 1, true)
  end
  return answer
end

local function bucket_names(fingerprints)
  local names = {}
  for n, fingerprint in ipairs(fingerprints) do names[n] = text(bucket_of(fingerprint)) end
  return names
end

-- Returns for each fingerprint, and the plan at the same place, what `look_up` says. Reads `finish` and `counts`.
local function look_up_finished(fingerprints, plans)
  if #fingerprints == 0 then return {} end
  read_buckets()
  local answers = {}
  for n, packed in ipairs(read_all('HMGET', finish, bucket_names(fingerprints))) do
    answers[n] = packed and look_up(records_in(packed), fingerprints[n], number_of(plans[n])) or false
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

-- Returns how many buckets there are; they are numbered from 0.
local function number_of_buckets()
  read_buckets()
  return buckets
end

-- Adds fingerprints as finished now, each for the plan at the same place; `is_marked`: whether 1 is added to twice its
-- number. Forgets search pages of past runs in the same buckets. Writes `finish` and `counts`.
local add_finished
-- Takes the records of a plan out of a bucket, of content pages those alone that can't be told of; returns how many
-- they were. Writes `finish` and `counts`.
local drop_finished
-- Takes out the record of a seed for a plan, unless it can be told of; returns whether it did. Writes `finish`.
local reopen_finished
do -- a script has at most 200 locals at once
  -- How long the search pages of a run are known: those before them may be tried again so long.
  local RUN_SECONDS = 86400

  -- Returns the records for which a function is true, and the number of the others, which leave the counts. The
  -- function gets the second at which a record's seed was finished, up to 256 s too early; its plan's number; and
  -- whether 1 was added to twice that.
  local function filter(records, is_kept)
    local kept = {}
    for at = 1, #records, RECORD_BYTES do
      local high, middle, low = string.byte(records, at + MEMBER_BYTES + TIME_BYTES, at + RECORD_BYTES - 1)
      local stamp = string.sub(records, at + MEMBER_BYTES, at + MEMBER_BYTES + TIME_BYTES - 1)
      local mark = (high * 256 + middle) * 256 + low
      if is_kept(struct.unpack('>I4', stamp .. '\0'), math.floor(mark / 2), mark % 2 == 1) then
        kept[#kept + 1] = string.sub(records, at, at + RECORD_BYTES - 1)
      end
    end
    local dropped = #records / RECORD_BYTES - #kept
    if dropped == 0 then return records, 0 end
    for _, state in ipairs({ 'offered', 'finished' }) do
      increment(counts, state, -dropped)
      increment(counts, 'deleted:' .. state, -dropped)
    end
    return table.concat(kept), dropped
  end

  function add_finished(fingerprints, plans, is_marked)
    if #fingerprints == 0 then return end
    read_buckets()
    local stamp, names, contents = string.sub(struct.pack('>I4', now_s), 1, TIME_BYTES), bucket_names(fingerprints), {}
    local function is_lasting(finished_s, _, is_of_run) return not is_of_run or finished_s > now_s - RUN_SECONDS end
    for n, packed in ipairs(read_all('HMGET', finish, names)) do
      if not contents[names[n]] then
        local records = records_in(packed)
        contents[names[n]] = frontier == 'nav' and filter(records, is_lasting) or records
      end
    end
    for n, fingerprint in ipairs(fingerprints) do
      local records, number = contents[names[n]], number_of(plans[n], true)
      if look_up(records, fingerprint, number) ~= 'known' then
        local mark = string.sub(struct.pack('>I4', number * 2 + (is_marked[n] and 1 or 0)), 2)
        contents[names[n]] = records .. string.sub(fingerprint, 1, MEMBER_BYTES) .. stamp .. mark
      end
    end
    local before, total = buckets, tonumber(call('HGET', counts, 'finished') or '0') + #fingerprints
    while buckets * RECORDS_PER_BUCKET < total and buckets - before < #fingerprints and buckets < MAX_BUCKETS do
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

  function drop_finished(plan, bucket)
    local number, records = number_of(plan), records_in(call('HGET', finish, text(bucket)))
    local others, dropped = filter(records, function(_, of_plan, is_marked)
      return of_plan ~= number or frontier == 'content' and is_marked
    end)
    if dropped > 0 then
      if others ~= '' then call('HSET', finish, text(bucket), others) else call('HDEL', finish, text(bucket)) end
    end
    return dropped
  end

  function reopen_finished(fingerprint, plan)
    read_buckets()
    local bucket = text(bucket_of(fingerprint))
    local records, number = records_in(call('HGET', finish, bucket)), number_of(plan)
    for at = 1, #records, RECORD_BYTES do
      local high, middle, low = string.byte(records, at + MEMBER_BYTES + TIME_BYTES, at + RECORD_BYTES - 1)
      local is_own = string.sub(records, at, at + MEMBER_BYTES - 1) == string.sub(fingerprint, 1, MEMBER_BYTES)
      if is_own and (high * 256 + middle) * 256 + low == number * 2 then
        call('HSET', finish, bucket, string.sub(records, 1, at - 1) .. string.sub(records, at + RECORD_BYTES))
        return true
      end
    end
    return false
  end
end
