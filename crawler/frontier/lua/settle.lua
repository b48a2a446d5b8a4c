#!lua flags=allow-oom
-- Ends claims and releases turns, in a batch, as their holder says. Claim ids are compared, so an owner whose session
-- lapsed can't end somebody else's claim.
--
-- ARGV: wake channel, the other frontier's; owner; MAX_ATTEMPTS, FAIL_DAYS; a failing host's first backoff and its
-- longest, in ms;
--   number of settlements;
--   for each settlement: operation, fingerprint, claim id, amount, reason
--     finish   done and delivered. reason: '' or a note to count; amount: when the seed was due, for a scheduled one
--     retry    tried in vain for `reason`: due again in `amount` ms, or failed after MAX_ATTEMPTS tries
--     fail     failed for `reason`
--     release  not tried: ready again, due at `amount`
--   for each turn: host; token (0: it is kept, this only reports on the host); ms since its last start (-1: none); ms
--     of backoff that the host asks for (0: none); what its requests add to the host's level of errors; and the least
--     level they leave
-- Returns {accepted, refused}: how many settlements ended a claim, and how many found it somebody else's by now.

local SETTLEMENTS_FROM = 9 -- place in ARGV
local SETTLEMENT_WORDS = 5
local TURN_WORDS = 6
local EXPIRED_MAX = 20     -- failed seeds forgotten in one call

local channel, other_channel, owner = ARGV[1], ARGV[2], ARGV[3]
local max_attempts, fail_days, number = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[8])
local first_backoff, longest_backoff = tonumber(ARGV[6]), tonumber(ARGV[7])

-- What workers are woken for: a free turn or a seed for later, in this frontier and in the other; seeds that are ready.
local announces_turn, announces_other_turn, announces_release = false, false, false

-- Ends the claim of a seed that is finished. Returns whether the seed is done with; a scheduled one becomes ready for
-- its next visit. Writes `scheduled`, deletes from `crashes` and `tries`.
local function end_finished(fingerprint, host, kind, due, note)
  if note ~= '' then book(kind, note, 1) end
  if kind.interval == 0 then
    book(kind, 'finished', 1)
    return true
  end
  call('SADD', scheduled, fingerprint)
  call('HDEL', crashes, fingerprint)
  call('HDEL', tries, fingerprint)
  book(kind, 'visits', 1)
  make_ready(fingerprint, host, kind, math.max(now, due + kind.interval * 1000))
  return false
end

-- Ends the claim of a seed that was tried in vain: it becomes ready for another try, or for its next visit if it is
-- scheduled, or fails. Writes `tries`, `reasons` and `scheduled`, deletes from `crashes`.
local function end_unfinished(fingerprint, host, kind, wait_ms, reason, may_retry)
  call('HDEL', crashes, fingerprint)
  local tried = increment(tries, fingerprint, 1)
  if may_retry and tried < max_attempts then
    call('HSET', reasons, fingerprint, reason)
    book(kind, 'retried', 1)
    make_ready(fingerprint, host, kind, now + wait_ms)
  elseif kind.interval > 0 then -- it is asked again at its next time, whatever became of it now
    call('SADD', scheduled, fingerprint)
    call('HSET', reasons, fingerprint, reason)
    call('HDEL', tries, fingerprint)
    book(kind, 'missed', 1)
    make_ready(fingerprint, host, kind, now + kind.interval * 1000)
  else
    make_failed(fingerprint, kind, reason)
  end
end

-- Ends all claims of the call that are still the owner's. Reads `claims` and `seed`; deletes from `execute`, `claims`
-- and held:OWNER; finished seeds are added to `finish` and deleted everywhere else. Returns how many claims it ended.
local function settle()
  local fingerprints = {}
  for n = 1, number do fingerprints[n] = ARGV[SETTLEMENTS_FROM + SETTLEMENT_WORDS * (n - 1) + 1] end
  local present, values = read_all('HMGET', claims, fingerprints), read_all('HMGET', seed, fingerprints)
  local ended, is_ended, finished = {}, {}, {}
  for n, fingerprint in ipairs(fingerprints) do
    local at = SETTLEMENTS_FROM + SETTLEMENT_WORDS * (n - 1)
    local operation, claim, amount, reason = ARGV[at], ARGV[at + 2], tonumber(ARGV[at + 3]), ARGV[at + 4]
    if present[n] == claim and values[n] and not is_ended[fingerprint] then
      local host, kind = host_and_kind(values[n])
      ended[#ended + 1] = fingerprint
      is_ended[fingerprint] = true
      book(kind, 'executing', -1)
      if operation == 'finish' then
        if end_finished(fingerprint, host, kind, amount, reason) then finished[#finished + 1] = fingerprint end
      elseif operation == 'release' then
        make_ready(fingerprint, host, kind, amount)
        announces_release = true
      else
        end_unfinished(fingerprint, host, kind, amount, reason, operation == 'retry')
      end
      announces_turn = announces_turn or kind.interval > 0 or operation == 'retry'
    end
  end
  write_all('ZREM', execute, ended)
  write_all('HDEL', claims, ended)
  write_all('SREM', held .. owner, ended)
  if #finished > 0 then
    add_finished(finished)
    write_all('HDEL', seed, finished)
    for _, key in ipairs({ tries, reasons, crashes }) do
      if call('EXISTS', key) == 1 then write_all('HDEL', key, finished) end
    end
  end
  if number > #ended then increment(counts, 'refused', number - #ended) end
  return #ended
end

-- Changes a host's level of errors by what a turn's requests say: one that failed by the host's fault raises it by one,
-- any other lowers it by one. Each level doubles the backoff after a request. Requests that were started before the
-- level rose change nothing: they failed for the same reason. Writes the fields `e` and `u`. Returns when the host may
-- be asked again, in ms; 0 when it is well.
local function weigh_errors(host_turns, last_start, delay, level_change, level_min)
  local level, rose_at = tonumber(host_turns.fields.e or '0'), host_turns.fields.u
  if level == 0 and level_min == 0 or level > 0 and last_start < tonumber(rose_at or '0') then return 0 end
  local pause, level_max = math.max(delay, first_backoff), 1
  while pause * 2 ^ (level_max - 1) < longest_backoff do level_max = level_max + 1 end
  local new = math.min(math.max(level + level_change, level_min), level_max)
  if new == 0 then
    delete_field(host_turns, 'e')
    delete_field(host_turns, 'u')
    return 0
  end
  set_field(host_turns, 'e', text(new))
  set_field(host_turns, 'u', new > level and now_text or rose_at or '0')
  return last_start + delay + math.min(pause * 2 ^ (new - 1), longest_backoff)
end

-- Begins a backoff, unless one that lasts longer has begun, and tells those who hold other turns of the host. Writes
-- the field `x`. Turns of an @ADDRESS are held for one request each, so there is nobody to tell.
local function back_off(host_turns, ends_at)
  if ends_at <= now or ends_at <= tonumber(host_turns.fields.x or '0') then return end
  set_field(host_turns, 'x', text(ends_at))
  if host_turns.held > 0 and string.byte(host_turns.host) ~= 64 then -- @
    local message = string.format('backoff %d %s', ends_at - now, host_turns.host)
    call('PUBLISH', channel, message)
    call('PUBLISH', other_channel, message)
  end
end

-- Releases the call's turns and takes in what they say of their hosts. Reads and writes the hosts' turns, and `hosts`
-- of both frontiers.
local function release_turns()
  for i = SETTLEMENTS_FROM + SETTLEMENT_WORDS * number, #ARGV, TURN_WORDS do
    local host, turn_token, since_start, backoff_ms = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    local level_change, level_min = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5])
    local host_turns = turns_of(host)
    local delay, ends_at = politeness_of(host_turns), backoff_ms > 0 and now + backoff_ms or 0
    if since_start >= 0 then
      local last_start = now - since_start
      release_turn(host_turns, owner, turn_token, last_start + delay)
      ends_at = math.max(ends_at, weigh_errors(host_turns, last_start, delay, level_change, level_min))
    else
      release_turn(host_turns, owner, turn_token, nil)
    end
    back_off(host_turns, ends_at)
    local is_ready, other_is_ready = update_host_in_both(host_turns)
    announces_turn, announces_other_turn = announces_turn or is_ready, announces_other_turn or other_is_ready
  end
end

-- Forgets some of the seeds that failed more than FAIL_DAYS ago: in `fail`, `seed`, `reasons` and `scheduled`.
local function forget_expired()
  local expired = call('ZRANGE', fail, '-inf', now - fail_days * 86400000, 'BYSCORE', 'LIMIT', 0, EXPIRED_MAX)
  write_all('ZREM', fail, expired)
  write_all('HDEL', seed, expired)
  write_all('HDEL', reasons, expired)
  write_all('SREM', scheduled, expired)
end

local accepted = settle()
release_turns()
forget_expired()
flush_hosts()
flush_turns()
flush_ledger()
if announces_release then
  call('PUBLISH', channel, 'release')
elseif announces_turn then
  announce_turn(channel, wake_pause)
end
if announces_other_turn then announce_turn(other_channel, other_wake_pause) end
return { accepted, number - accepted }
