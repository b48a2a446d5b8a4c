-- Which pages are finished, by filters with a small error: what DEDUP_MODE=bloom adds to lib/finished.lua.
--
-- Gives the scripts nothing by name: `look_up_finished` and `add_finished` of the content frontier ask and fill
-- filters, too. scripts.py puts this part into the scripts where the setting says so, and DEDUP_ERROR_RATE before it.
--
-- A page that became one item for a plan is a few bits in a filter, and in nothing else (B. H. Bloom, 1970). Pages
-- without an item, and one page in SAMPLED_OF, are packed exactly as ever; of the latter ones it is counted how often
-- filters err. No other plan can be told of a page that is in a filter: it fetches the page for itself.
--
-- Filters grow by slices (P. S. Almeida and others, 2007): when one is full, the next has room for twice as many pages
-- with a smaller error, so that all errors together stay below DEDUP_ERROR_RATE. Beside the hash `finish` lie:
--   FINISH:filter    Hash: a slice's number, from 1 -> `BITS HASHES ROOM`; `in NUMBER` -> how many pages are in it
--   FINISH:filter:NUMBER  String: its bits
-- and in `counts`: `filtered` (how many pages are in filters alone), `filter_asked` (how often exact pages that weren't
-- finished were asked for), `filter_erred` (how often filters took them for finished), `filter_expected` (what the fill
-- of all slices makes of that, in parts of EXPECTED_UNITS), and `filter_beyond_s` (when pages were refused last, in s).
do -- a script has at most 200 locals at once
  local FIRST_ROOM = 65536 -- pages of the first slice, some 200 kB: a partition has as much from its first page on
  -- Each slice's error by that of the one before: less of it would cost bits, more would leave little to the first.
  local TIGHTER = 0.85
  local MAX_BITS = 2 ^ 29 -- 64 MiB: a larger string is not made within the time of a call
  local MAX_SLICES = 32
  local SAMPLED_OF = 1000
  local EXPECTED_UNITS = 10 ^ 12 -- counts are whole numbers
  -- Most bits of a page that are asked at first: all of them are set in few slices where the page isn't.
  local FIRST_BITS = 4
  local BITS_AT_ONCE = 1000 -- most bits of one call
  local slices_key, is_content = finish .. ':filter', frontier == 'content'
  local look_up_exactly, add_exactly = look_up_finished, add_finished

  local slices -- number -> { bits, hashes, room, pages }
  local function read_slices()
    if slices then return end
    slices = {}
    local fields, flat = {}, call('HGETALL', slices_key)
    for n = 1, #flat, 2 do fields[flat[n]] = flat[n + 1] end
    for number = 1, MAX_SLICES do
      local bits, hashes, room = string.match(fields[text(number)] or '', '^(%d+) (%d+) (%d+)$')
      if not bits then return end
      local pages = tonumber(fields['in ' .. text(number)] or '0')
      slices[number] = {
        number = number, bits = tonumber(bits), hashes = tonumber(hashes), room = tonumber(room), pages = pages,
      }
    end
  end

  -- Returns the share of other pages that all slices together take for finished, by how full they are.
  local function expected_error()
    local sum = 0
    for _, slice in ipairs(slices) do
      sum = sum + (1 - math.exp(-slice.hashes * slice.pages / slice.bits)) ^ slice.hashes
    end
    return sum
  end

  local function is_sampled(fingerprint) return struct.unpack('>I4', fingerprint, 13) % SAMPLED_OF == 0 end

  -- Returns where the first bits of a page are in a slice, for a plan, up to `last` (enhanced double hashing;
  -- P. Dillinger and P. Manolios, 2004). A fingerprint is as good as random already.
  local function places_of(fingerprint, plan, slice, last)
    local high, low, step_high, step_low = struct.unpack('>I3I3I3I3', fingerprint)
    local number = plan_number(plan, true)
    local place = (high * 16777216 + (low + number * 40503) % 16777216) % slice.bits
    local step = (step_high * 16777216 + (step_low + number * 30011) % 16777216) % slice.bits
    local places = {}
    for n = 1, last do
      places[n] = text(place)
      place, step = (place + step) % slice.bits, (step + n) % slice.bits
    end
    return places
  end

  -- Runs BITFIELD over words of which each bit has so many; returns what it says of all bits.
  local function on_bits(slice, words, of_each)
    local answers, key = {}, slices_key .. ':' .. text(slice.number)
    for from = 1, #words, BITS_AT_ONCE * of_each do
      local part = call('BITFIELD', key, unpack(words, from, math.min(from + BITS_AT_ONCE * of_each - 1, #words)))
      for _, bit in ipairs(part) do answers[#answers + 1] = bit end
    end
    return answers
  end

  -- Returns those of some places in the lists whose pages have all of some of their bits in a slice.
  local function with_bits(slice, asked, fingerprints, plans, first, last)
    local words, kept, at = {}, {}, 0
    for _, n in ipairs(asked) do
      local places = places_of(fingerprints[n], plans[n], slice, last)
      for bit = first, last do
        words[at + 1], words[at + 2], words[at + 3] = 'GET', 'u1', places[bit]
        at = at + 3
      end
    end
    at = 0
    local answers = on_bits(slice, words, 3)
    for _, n in ipairs(asked) do
      local is_in = true
      for _ = first, last do
        at = at + 1
        is_in = is_in and answers[at] == 1
      end
      if is_in then kept[#kept + 1] = n end
    end
    return kept
  end

  -- Returns which of some places in the lists have pages that filters take for finished: place -> true. The newest
  -- slice, which has most pages, is asked first.
  local function in_filters(asked, fingerprints, plans)
    local is_in = {}
    for number = #slices, 1, -1 do
      local slice, left = slices[number], {}
      local few = math.min(FIRST_BITS, slice.hashes)
      local likely = with_bits(slice, asked, fingerprints, plans, 1, few)
      for _, n in ipairs(with_bits(slice, likely, fingerprints, plans, few + 1, slice.hashes)) do is_in[n] = true end
      for _, n in ipairs(asked) do
        if not is_in[n] then left[#left + 1] = n end
      end
      asked = left
    end
    return is_in
  end

  -- As lib/finished.lua's; and 'refused' of a page of which only filters could tell, where their errors are beyond
  -- DEDUP_ERROR_RATE.
  function look_up_finished(fingerprints, plans)
    local answers, asked = look_up_exactly(fingerprints, plans), {}
    if not is_content then return answers end
    for n = 1, #fingerprints do
      if answers[n] ~= 'known' and plan_number(plans[n]) > 0 then asked[#asked + 1] = n end
    end
    if #asked == 0 then return answers end
    read_slices()
    local is_beyond, is_in = expected_error() > DEDUP_ERROR_RATE, in_filters(asked, fingerprints, plans)
    if is_beyond then call('HSET', counts, 'filter_beyond_s', call('TIME')[1]) end
    for _, n in ipairs(asked) do
      if is_sampled(fingerprints[n]) then
        increment(counts, 'filter_asked', 1)
        if is_in[n] then increment(counts, 'filter_erred', 1) end
      elseif is_beyond then
        answers[n] = 'refused'
      elseif is_in[n] then
        answers[n] = 'known'
      end
    end
    return answers
  end

  -- Begins the next slice, unless there are as many as there may be: then the last one gets fuller than it should be.
  local function add_slice()
    local number = #slices + 1
    if number > MAX_SLICES then return end
    local rate = DEDUP_ERROR_RATE * (1 - TIGHTER) * TIGHTER ^ (number - 1)
    local hashes = math.max(1, math.ceil(math.log(1 / rate) / math.log(2)))
    local bits_per_page = -hashes / math.log(1 - rate ^ (1 / hashes))
    local room = math.floor(math.min(FIRST_ROOM * 2 ^ (number - 1), MAX_BITS / bits_per_page))
    local bits = math.ceil(room * bits_per_page)
    slices[number] = { number = number, bits = bits, hashes = hashes, room = room, pages = 0 }
    -- All of it at once: a string that grows bit by bit gets up to twice the room that it needs.
    call('BITFIELD', slices_key .. ':' .. text(number), 'SET', 'u1', text(bits - 1), '0')
    call('HSET', slices_key, text(number), text(bits) .. ' ' .. text(hashes) .. ' ' .. text(room))
  end

  function add_finished(fingerprints, plans, is_marked, has_times)
    if not is_content then return add_exactly(fingerprints, plans, is_marked, has_times) end
    local exact, exact_plans, marks, filtered, alone = {}, {}, {}, {}, 0
    for n, fingerprint in ipairs(fingerprints) do
      local sampled = is_sampled(fingerprint)
      if sampled or not is_marked[n] then
        exact[#exact + 1], exact_plans[#exact_plans + 1], marks[#marks + 1] = fingerprint, plans[n], is_marked[n]
      end
      if is_marked[n] then filtered[#filtered + 1] = n end
      if is_marked[n] and not sampled then alone = alone + 1 end
    end
    add_exactly(exact, exact_plans, marks, has_times)
    if #filtered == 0 then return end
    read_slices()
    if #slices == 0 or slices[#slices].pages >= slices[#slices].room then add_slice() end
    local slice, words, at = slices[#slices], {}, 0
    for _, n in ipairs(filtered) do
      for _, place in ipairs(places_of(fingerprints[n], plans[n], slice, slice.hashes)) do
        words[at + 1], words[at + 2], words[at + 3], words[at + 4] = 'SET', 'u1', place, '1'
        at = at + 4
      end
    end
    on_bits(slice, words, 4)
    slice.pages = slice.pages + #filtered
    call('HSET', slices_key, 'in ' .. text(slice.number), text(slice.pages))
    increment(counts, 'filtered', alone)
    call('HSET', counts, 'filter_expected', text(math.ceil(expected_error() * EXPECTED_UNITS)))
  end
end
