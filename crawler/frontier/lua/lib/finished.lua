-- Which seeds are finished, and for which plan: hash `finish`. frontier/finished.py reads it, too.
--
-- Gives the scripts: `plan_number`, `look_up_finished`, `add_finished`, `add_packed_records`, `number_of_buckets`,
-- `drop_finished`, `reopen_finished`.
--
-- For each plan that wanted it, the first 8 bytes of a finished seed's fingerprint are known: of forty crawls of a
-- billion pages each, one has two pages that share them. Seeds lie packed in buckets, which are the fields of the hash,
-- named by their numbers from 0. What a bucket's number says of its seeds isn't stored again: the last bits of their
-- first 4 bytes, as a big endian number. A seed takes 8 bytes in a bucket that is found by less than 8 bits, 7 by less
-- than 16, 6 by less than 24, and 5 by more: in all of them from 256, 65,536 and 16,777,216 buckets on. A bucket has:
--   1 byte   how many bytes of each seed it holds, WIDTH: the first WIDTH - 4 of the fingerprint, and its 5th to 8th
--   groups of seeds, each of
--     1 byte   how many seeds the group has, from 1 to 127; plus 128 where they have times
--     3 bytes  their mark: twice the plan's number (`plan_numbers`), plus 1: of a content page if it can be told of,
--              since it became one item and led nowhere else; of a search page if it is of a scheduled run, which ends
--     seeds    WIDTH bytes each, and where they have times 3 bytes behind those: when the seed was finished, the first
--              of the 4 bytes of the second since the epoch, so exact to 256 s
-- Search pages of scheduled runs have times, by which they are forgotten, and all seeds where FINISHED_TIMES asks for
-- it. The buckets that a call needs are read by one HMGET and written by one HSET; each is a few hundred bytes.
--
-- The number of buckets (`finished_buckets` in `counts`) grows with the number of seeds by linear hashing (W. Litwin,
-- 1980): bucket 0 is split first, then 1, and so on. So the number of buckets alone tells in which one a seed lies.

-- Returns for each fingerprint, and the plan at the same place, 'known' (finished for that plan),
-- 'delivered' (for others, who can be told of it), 'done' (for others, whose page has to be fetched again), or false.
-- Reads `finish` and `counts`.
local look_up_finished
-- Returns a plan's number; where it has none yet, 0, or a new one if `may_add` is set. Reads and writes `plan_numbers`.
local plan_number
-- Returns how many buckets there are; they are numbered from 0.
local number_of_buckets
-- Adds fingerprints as finished now, each for the plan at the same place; `is_marked`: whether 1 is added to twice its
-- number; `has_times`: whether it is kept when. Forgets search pages of past runs in the same buckets. Writes `finish`
-- and `counts`.
local add_finished
-- Adds records of format 3 of the frontier: 8 bytes of a fingerprint, 3 of when it was finished, and 3 of the mark.
-- Writes `finish`.
local add_packed_records
-- Takes the records of a plan out of a bucket, of content pages those alone that can't be told of; returns how many
-- they were. Writes `finish` and `counts`.
local drop_finished
-- Takes out the record of a seed for a plan, unless it can be told of; returns whether it did. Writes `finish`.
local reopen_finished
do -- a script has at most 200 locals at once
  -- How many seeds a bucket has on average: fewer would cost memory, more would cost copying.
  local SEEDS_PER_BUCKET = 64
  local MAX_BUCKETS = 2 ^ 31 -- most buckets: one is found by 32 bits of the fingerprint
  local MAX_PLANS = 2 ^ 23 - 1 -- most plans: their numbers fit into a mark, and a partition never sees so many
  local TIME_BYTES, HEAD_BYTES, TIMED, MAX_GROUP = 3, 4, 128, 127

  local buckets, whole -- the number of buckets, and the power of two at or below it; read when they are first needed
  local function read_buckets()
    if buckets then return end
    local stored = tonumber(call('HGET', counts, 'finished_buckets') or '1')
    buckets = math.floor(math.max(1, math.min(stored, MAX_BUCKETS)))
    whole = 1
    while whole * 2 <= buckets do whole = whole * 2 end
  end

  local function bucket_of(fingerprint)
    local hash = struct.unpack('>I4', fingerprint)
    local bucket = hash % (whole * 2)
    return bucket < buckets and bucket or hash % whole
  end

  -- Returns the bytes of a seed in a bucket that is found by so many of its bits, as a power of two.
  local function width_for(power)
    if power >= 16777216 then return 5 end
    return power >= 65536 and 6 or power >= 256 and 7 or 8
  end
  local function width_of(bucket)
    return width_for((bucket >= whole or bucket < buckets - whole) and whole * 2 or whole)
  end

  -- Returns a group's mark, the bytes of each of its seeds, where they begin, and where the next group begins.
  local function group_at(packed, at, width)
    local size, high, middle, low = string.byte(packed, at, at + HEAD_BYTES - 1)
    local stride, first = size >= TIMED and width + TIME_BYTES or width, at + HEAD_BYTES
    return ((high or 0) * 256 + (middle or 0)) * 256 + (low or 0), stride, first, first + size % TIMED * stride
  end

  -- Returns a bucket's content; nothing where it is junk or missing.
  local function records_in(packed, bucket)
    local width, at = width_of(bucket), 2
    if not packed or string.byte(packed) ~= width then return '' end
    while at <= #packed do at = select(4, group_at(packed, at, width)) end
    return at == #packed + 1 and packed or ''
  end

  -- Returns the bytes of a fingerprint, or of a record of format 3, that a bucket holds.
  local function member_of(fingerprint, width)
    return string.sub(fingerprint, 1, width - 4) .. string.sub(fingerprint, 5, 8)
  end

  local numbers = {} -- plan -> its number, 0 where it has none yet

  function plan_number(plan, may_add)
    local number = numbers[plan] or tonumber(call('HGET', plan_numbers, plan) or '0')
    if number == 0 and may_add then
      number = math.min(call('HLEN', plan_numbers) + 1, MAX_PLANS)
      call('HSET', plan_numbers, plan, number)
    end
    numbers[plan] = number
    return number
  end

  -- Looks for a seed in a bucket. The function is called for each mark that it has, with the mark, where its group
  -- begins, where it lies itself, and its bytes there, until it returns true.
  local function find_records(packed, fingerprint, bucket, is_enough)
    local width = width_of(bucket)
    local member, at = member_of(fingerprint, width), 2
    local hit = packed and string.find(packed, member, at, true)
    if not hit or string.byte(packed) ~= width then return end
    while hit and at <= #packed do
      local mark, stride, first, after = group_at(packed, at, width)
      while hit and hit < after do
        local is_seed = hit >= first and (hit - first) % stride == 0 and hit + stride <= after
        if is_seed and is_enough(mark, at, hit, stride) then return end
        hit = string.find(packed, member, hit + 1, true)
      end
      at = after
    end
  end

  -- Returns what a bucket holds of a fingerprint: 'known' (finished for the plan with this number), 'delivered' (for
  -- others, who can be told of), 'done' (for others, whose page has to be fetched again), or nil.
  local function look_up(packed, fingerprint, bucket, number)
    local answer
    find_records(packed, fingerprint, bucket, function(mark)
      if math.floor(mark / 2) == number then
        answer = 'known'
        return true
      end
      if mark % 2 == 1 then answer = 'delivered' end
      answer = answer or 'done'
    end)
    return answer
  end

  -- Returns the number of the bucket of each fingerprint, and its name.
  local function buckets_for(fingerprints)
    local of_each, names = {}, {}
    for n, fingerprint in ipairs(fingerprints) do
      of_each[n] = bucket_of(fingerprint)
      names[n] = text(of_each[n])
    end
    return of_each, names
  end

  function look_up_finished(fingerprints, plans)
    if #fingerprints == 0 then return {} end
    read_buckets()
    local answers, of_each, names = {}, buckets_for(fingerprints)
    for n, packed in ipairs(read_all('HMGET', finish, names)) do
      answers[n] = packed and look_up(packed, fingerprints[n], of_each[n], plan_number(plans[n])) or false
    end
    return answers
  end

  function number_of_buckets()
    read_buckets()
    return buckets
  end

  -- How long the search pages of a run are known: those before them may be tried again so long.
  local RUN_SECONDS = 86400

  local function mark_bytes(mark) return string.sub(struct.pack('>I4', mark), 2) end

  -- Returns groups of some members with the same mark.
  local function pack(members, mark, is_timed)
    local groups, head = {}, mark_bytes(mark)
    for from = 1, #members, MAX_GROUP do
      local to = math.min(from + MAX_GROUP - 1, #members)
      local size = string.char(to - from + 1 + (is_timed and TIMED or 0))
      groups[#groups + 1] = size .. head .. table.concat(members, '', from, to)
    end
    return table.concat(groups)
  end

  -- Returns a bucket's content with one more member, which has a time (3 bytes) or ''.
  local function insert(packed, width, member, mark, stamp)
    if packed == '' then packed = string.char(width) end
    local at, stride = 2, width + #stamp
    while at <= #packed do
      local of_group, its_stride, first, after = group_at(packed, at, width)
      local size = string.byte(packed, at)
      if of_group == mark and its_stride == stride and size % TIMED < MAX_GROUP then
        local head = string.sub(packed, 1, at - 1) .. string.char(size + 1) .. string.sub(packed, at + 1, first - 1)
        return head .. member .. stamp .. string.sub(packed, first)
      end
      at = after
    end
    return packed .. pack({ member .. stamp }, mark, stamp ~= '')
  end

  -- Returns the content without the records for which a function is false, and how many those were; they leave the
  -- counts. The function gets the mark, and the second at which the seed was finished, up to 256 s too early, or nil.
  local function filter(packed, is_kept)
    local kept, dropped, at, width = {}, 0, 2, string.byte(packed)
    while at <= #packed do
      local mark, stride, first, after = group_at(packed, at, width)
      local members = {}
      for from = first, after - 1, stride do
        local stamp = stride > width and string.sub(packed, from + width, from + stride - 1)
        if is_kept(mark, stamp and struct.unpack('>I4', stamp .. '\0')) then
          members[#members + 1] = string.sub(packed, from, from + stride - 1)
        else
          dropped = dropped + 1
        end
      end
      kept[#kept + 1] = pack(members, mark, stride > width)
      at = after
    end
    if dropped == 0 then return packed, 0 end
    for _, state in ipairs({ 'offered', 'finished' }) do
      increment(counts, state, -dropped)
      increment(counts, 'deleted:' .. state, -dropped)
    end
    local groups = table.concat(kept)
    return groups ~= '' and string.char(width) .. groups or '', dropped
  end

  -- Splits the next bucket in `contents` (bucket name -> content): every second seed on average goes to a new bucket,
  -- by the next bit, which is in the last of the bytes that the number of buckets doesn't say yet.
  local function split_bucket(contents)
    local old, new = buckets - whole, buckets
    local packed = contents[text(old)] or records_in(call('HGET', finish, text(old)), old)
    local width, new_width = width_for(whole), width_for(whole * 2)
    local byte_at, bit = width - 5, whole
    while bit >= 256 do bit = bit / 256 end
    local halves, at = { {}, {} }, 2
    while at <= #packed do
      local mark, stride, first, after = group_at(packed, at, width)
      local members = { {}, {} }
      for from = first, after - 1, stride do
        local byte, member = string.byte(packed, from + byte_at), string.sub(packed, from, from + stride - 1)
        local half = members[math.floor(byte / bit) % 2 + 1]
        if new_width < width then member = string.sub(member, 1, byte_at) .. string.sub(member, byte_at + 2) end
        half[#half + 1] = member
      end
      for n, half in ipairs(halves) do half[#half + 1] = pack(members[n], mark, stride > width) end
      at = after
    end
    buckets = buckets + 1
    if buckets == whole * 2 then whole = buckets end
    for n, name in ipairs({ text(old), text(new) }) do
      local groups = table.concat(halves[n])
      contents[name] = groups ~= '' and string.char(new_width) .. groups or ''
    end
  end

  local function write(contents)
    local fields = {}
    for name, packed in pairs(contents) do
      fields[#fields + 1] = name
      fields[#fields + 1] = packed
    end
    write_all('HSET', finish, fields)
  end

  -- Returns the content of the buckets of some fingerprints, by name, with the bucket of each and its name.
  local function read_contents(fingerprints)
    local contents, of_each, names = {}, buckets_for(fingerprints)
    for n, packed in ipairs(read_all('HMGET', finish, names)) do
      if not contents[names[n]] then contents[names[n]] = records_in(packed, of_each[n]) end
    end
    return contents, of_each, names
  end

  function add_finished(fingerprints, plans, is_marked, has_times)
    if #fingerprints == 0 then return end
    read_buckets()
    local contents, of_each, names = read_contents(fingerprints)
    if frontier == 'nav' then
      local function is_lasting(mark, at_s) return mark % 2 == 0 or not at_s or at_s > now_s - RUN_SECONDS end
      for name, packed in pairs(contents) do contents[name] = filter(packed, is_lasting) end
    end
    local stamp = string.sub(struct.pack('>I4', now_s), 1, TIME_BYTES)
    for n, fingerprint in ipairs(fingerprints) do
      local packed, number = contents[names[n]], plan_number(plans[n], true)
      if look_up(packed, fingerprint, of_each[n], number) ~= 'known' then
        local width, is_timed = width_of(of_each[n]), has_times or frontier == 'nav' and is_marked[n]
        local mark = number * 2 + (is_marked[n] and 1 or 0)
        contents[names[n]] = insert(packed, width, member_of(fingerprint, width), mark, is_timed and stamp or '')
      end
    end
    local finished_all, elsewhere = unpack(call('HMGET', counts, 'finished', 'filtered'))
    local before, total = buckets, tonumber(finished_all or '0') - tonumber(elsewhere or '0') + #fingerprints
    while buckets * SEEDS_PER_BUCKET < total and buckets - before < #fingerprints and buckets < MAX_BUCKETS do
      split_bucket(contents)
    end
    if buckets > before then call('HSET', counts, 'finished_buckets', buckets) end
    write(contents)
  end

  function add_packed_records(records)
    if not call('HGET', counts, 'finished_buckets') then
      local total = tonumber(call('HGET', counts, 'finished') or '0')
      call('HSET', counts, 'finished_buckets', text(math.max(1, math.ceil(total / SEEDS_PER_BUCKET))))
    end
    read_buckets()
    local contents, of_each, names = read_contents(records)
    for n, record in ipairs(records) do
      local width, high, middle, low = width_of(of_each[n]), string.byte(record, 12, 14)
      local mark = (high * 256 + middle) * 256 + low
      local stamp = frontier == 'nav' and mark % 2 == 1 and string.sub(record, 9, 11) or ''
      contents[names[n]] = insert(contents[names[n]], width, member_of(record, width), mark, stamp)
    end
    write(contents)
  end

  function drop_finished(plan, bucket)
    local number, packed = plan_number(plan), records_in(call('HGET', finish, text(bucket)), bucket)
    if packed == '' then return 0 end
    local others, dropped = filter(packed, function(mark)
      return math.floor(mark / 2) ~= number or frontier == 'content' and mark % 2 == 1
    end)
    if dropped > 0 then
      if others ~= '' then call('HSET', finish, text(bucket), others) else call('HDEL', finish, text(bucket)) end
    end
    return dropped
  end

  function reopen_finished(fingerprint, plan)
    read_buckets()
    local bucket, number, is_found = bucket_of(fingerprint), plan_number(plan), false
    local packed = call('HGET', finish, text(bucket))
    find_records(packed, fingerprint, bucket, function(mark, at, member_at, stride)
      if mark ~= number * 2 then return false end
      local size, behind = string.byte(packed, at), string.sub(packed, member_at + stride)
      local head = string.sub(packed, 1, at - 1)
      if size % TIMED > 1 then
        head = head .. string.char(size - 1) .. string.sub(packed, at + 1, member_at - 1)
      end
      call('HSET', finish, text(bucket), head .. behind)
      is_found = true
      return true
    end)
    return is_found
  end
end
