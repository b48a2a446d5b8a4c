-- Ends claims, in a batch: the one place that moves seeds out of execute by their holder's word. Claim ids are compared, so
-- an owner whose session lapsed can't end somebody else's claim.
--
-- ARGV: wake channel, owner, MAX_ATTEMPTS, FAIL_DAYS, number of entries;
--   per entry: op, fingerprint, claim id, number, reason
--     finish  done and delivered; number: the due time that a scheduled seed was claimed with; reason: '' or a note to count
--     retry   due again in `number` ms, for `reason`; fails with it after MAX_ATTEMPTS real tries
--     fail    dead, for `reason`
--     back    not tried: due again at `number`
--   then per turn given back: host, turn, ms since its last start (-1: none), ms that the host wants to be left alone (0: none)
-- Returns {accepted, refused}: refused claims were somebody else's by now.

local channel, owner, max_attempts, fail_days, number = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local WAKE_PAUSE_MS = 200 -- between two announcements of freed turns
local TRIM_MAX = 20 -- expired failures forgotten in one call

local fps = {}
for n = 1, number do fps[n] = ARGV[5 * n + 2] end
local present, values = hmget(claims, fps), hmget(seed, fps)
local ended, forgotten, accepted, woken = {}, {}, 0, false
for n, fp in ipairs(fps) do
  local op, amount, reason = ARGV[5 * n + 1], tonumber(ARGV[5 * n + 4]), ARGV[5 * n + 5]
  if present[n] == ARGV[5 * n + 3] and values[n] then
    local host, plan, site, interval = head(values[n])
    accepted = accepted + 1
    present[n] = false -- the same entry twice counts once
    ended[#ended + 1] = fp
    book(plan, site, 'executing', -1)
    if op == 'finish' then
      if reason ~= '' then book(plan, site, reason, 1) end
      call('HDEL', crashes, fp)
      if interval > 0 then
        call('SADD', scheduled, fp)
        call('HDEL', tries, fp)
        book(plan, site, 'visits', 1)
        make_ready(fp, host, plan, site, interval, math.max(now, amount + interval * 1000))
      else
        add_finished(fp, guess_depth())
        forgotten[#forgotten + 1] = fp
        book(plan, site, 'finished', 1)
      end
    elseif op == 'back' then
      make_ready(fp, host, plan, site, interval, amount)
      woken = true
    else
      call('HDEL', crashes, fp)
      local count = call('HINCRBY', tries, fp, 1)
      if op == 'retry' and count < max_attempts then
        call('HSET', reasons, fp, reason)
        book(plan, site, 'retried', 1)
        make_ready(fp, host, plan, site, interval, now + amount)
      elseif interval > 0 then -- a scheduled question is asked again next time, whatever became of it now
        call('SADD', scheduled, fp)
        call('HSET', reasons, fp, reason)
        call('HDEL', tries, fp)
        book(plan, site, 'missed', 1)
        make_ready(fp, host, plan, site, interval, now + interval * 1000)
      else
        make_failed(fp, plan, site, reason)
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
  many('HDEL', seed, forgotten)
  many('HDEL', tries, forgotten)
  many('HDEL', reasons, forgotten)
end
if number > accepted then call('HINCRBY', counts, 'refused', number - accepted) end

for i = 5 * number + 6, #ARGV, 4 do
  local host, index, age, leave = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local state = turns_of(host)
  local delay = politeness_of(state)
  give_turn(state, host, owner, index, age >= 0 and now - age + delay or nil)
  if leave > 0 and now + leave > tonumber(state.x or '0') then
    state.x = tostring(now + leave)
    call('HSET', turn .. host, 'x', string.format('%.0f', now + leave))
  end
  local free_now = refresh_both(host, state)
  -- An owner that stays asks again by itself; others should know too, but not a thousand times a second.
  if not woken and free_now and call('EXISTS', ready .. host) == 1 then woken = call('SET', wake_pause, 1, 'NX', 'PX', WAKE_PAUSE_MS) end
end

local old = call('ZRANGE', fail, '-inf', now - fail_days * 86400000, 'BYSCORE', 'LIMIT', 0, TRIM_MAX)
if #old > 0 then
  many('ZREM', fail, old)
  many('HDEL', seed, old)
  many('HDEL', reasons, old)
end
book_close()
if woken then call('PUBLISH', channel, 'turn') end
return { accepted, number - accepted }
