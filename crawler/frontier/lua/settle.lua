#!lua flags=allow-oom
-- Ends claims, in a batch: the one place that moves seeds out of execute by their holder's word. Claim ids are compared, so
-- an owner whose session lapsed can't end somebody else's claim.
--
-- ARGV: wake channel, the other frontier's, owner, MAX_ATTEMPTS, FAIL_DAYS, a failing host's first extra pause in ms, its longest,
--   number of entries;
--   per entry: op, fingerprint, claim id, number, reason
--     finish  done and delivered; number: the due time that a scheduled seed was claimed with; reason: '' or a note to count
--     retry   due again in `number` ms, for `reason`; fails with it after MAX_ATTEMPTS real tries
--     fail    dead, for `reason`
--     release not tried: due again at `number`
--   then per turn given back: host, token (0: none, just news of the host), ms since its last start (-1: none), ms that the host
--     wants to be left alone (0: none), what its requests add to the host's level of errors, and what they leave it at least at
-- Returns {accepted, refused}: refused claims were somebody else's by now.

local channel, other_channel, owner = ARGV[1], ARGV[2], ARGV[3]
local max_attempts, fail_days, number = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[8])
local first_pause, longest_pause = tonumber(ARGV[6]), tonumber(ARGV[7])
local ENTRIES, TURNS = 8, 8 + 5 * number -- what stands before them
local TRIM_MAX = 20 -- expired failures forgotten in one call

local fps = {}
for n = 1, number do fps[n] = ARGV[ENTRIES + 5 * n - 3] end
local present, values = hmget(claims, fps), hmget(seed, fps)
local ended, done, forgotten, accepted, handed_back, later = {}, {}, {}, 0, false, false
for n, fp in ipairs(fps) do
  local at = ENTRIES + 5 * (n - 1)
  local op, claim, amount, reason = ARGV[at + 1], ARGV[at + 3], tonumber(ARGV[at + 4]), ARGV[at + 5]
  if present[n] == claim and values[n] and not done[fp] then
    local host, kind = head(values[n])
    local interval = kind.interval
    accepted = accepted + 1
    ended[#ended + 1] = fp
    done[fp] = true
    later = later or interval > 0 or op == 'retry'
    book(kind, 'executing', -1)
    if op == 'finish' then
      if reason ~= '' then book(kind, reason, 1) end
      if interval > 0 then
        call('SADD', scheduled, fp)
        call('HDEL', crashes, fp)
        call('HDEL', tries, fp)
        book(kind, 'visits', 1)
        make_ready(fp, host, kind, math.max(now, amount + interval * 1000))
      else
        forgotten[#forgotten + 1] = fp
        book(kind, 'finished', 1)
      end
    elseif op == 'release' then
      make_ready(fp, host, kind, amount)
      handed_back = true
    else
      call('HDEL', crashes, fp)
      local count = add(tries, fp, 1)
      if op == 'retry' and count < max_attempts then
        call('HSET', reasons, fp, reason)
        book(kind, 'retried', 1)
        make_ready(fp, host, kind, now + amount)
      elseif interval > 0 then -- a scheduled question is asked again next time, whatever became of it now
        call('SADD', scheduled, fp)
        call('HSET', reasons, fp, reason)
        call('HDEL', tries, fp)
        book(kind, 'missed', 1)
        make_ready(fp, host, kind, now + interval * 1000)
      else
        make_failed(fp, kind, reason)
      end
    end
  end
end
if #ended > 0 then
  many('ZREM', execute, ended)
  many('HDEL', claims, ended)
  many('SREM', held .. owner, ended)
end
if #forgotten > 0 then
  add_finished(forgotten)
  many('HDEL', seed, forgotten)
  for _, key in ipairs({ tries, reasons, crashes }) do
    if call('EXISTS', key) == 1 then many('HDEL', key, forgotten) end
  end
end
if number > accepted then add(counts, 'refused', number - accepted) end

-- A host's level of errors: a request that fails by the host's fault raises it by one, any other lowers it by one. Each level
-- doubles the extra pause after a request. What was sent before the level rose is no news: it failed for the same reason.
-- Returns when the host may be asked again, in ms; nil when it is well.
local function weigh(state, started, delay, change, least)
  local level = tonumber(state.e or '0')
  if level == 0 and least == 0 or level > 0 and started < tonumber(state.u or '0') then return nil end
  local base, highest = math.max(delay, first_pause), 1
  while base * 2 ^ (highest - 1) < longest_pause do highest = highest + 1 end
  local new = math.min(math.max(level + change, least), highest)
  if new == 0 then
    erase(state, 'e')
    erase(state, 'u')
    return nil
  end
  put(state, 'e', text(new))
  put(state, 'u', new > level and now_text or state.u or '0')
  return started + delay + math.min(base * 2 ^ (new - 1), longest_pause)
end

local other_waits = false
for i = TURNS + 1, #ARGV, 6 do
  local host, token, age, leave = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local change, least = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5])
  local state = turns_of(host)
  local delay = politeness_of(state)
  give_turn(state, owner, token, age >= 0 and now - age + delay or nil)
  local not_before = math.max(leave > 0 and now + leave or 0, age >= 0 and weigh(state, now - age, delay, change, least) or 0)
  if not_before > now and not_before > tonumber(state.x or '0') then
    put(state, 'x', text(not_before))
    if state[HELD] > 0 and string.byte(host) ~= 64 then -- their holders stop too; not of an @ADDRESS, taken for one request
      local news = string.format('leave %d %s', not_before - now, host)
      call('PUBLISH', channel, news)
      call('PUBLISH', other_channel, news)
    end
  end
  local waits, waits_there = refresh_both(state)
  later, other_waits = later or waits, other_waits or waits_there
end

local old = call('ZRANGE', fail, '-inf', now - fail_days * 86400000, 'BYSCORE', 'LIMIT', 0, TRIM_MAX)
if #old > 0 then
  many('ZREM', fail, old)
  many('HDEL', seed, old)
  many('HDEL', reasons, old)
  many('SREM', scheduled, old)
end
hosts_close()
turns_close()
book_close()
if handed_back then call('PUBLISH', channel, 'release') elseif later then announce(channel, wake_pause) end
if other_waits then announce(other_channel, other_wake_pause) end
return { accepted, number - accepted }
