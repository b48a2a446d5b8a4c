#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, receipts, ledger, finished, turns, order, hosts, states, plans.
--
-- Ends claims and releases turns, in a batch, as their holder says. Claim ids are compared, so an owner whose session
-- lapsed can't end somebody else's claim.
--
-- ARGV: wake channel, the other frontier's; owner; MAX_ATTEMPTS, FAIL_DAYS; '1' by FINISHED_TIMES, else '0'; a failing
-- host's first backoff and its longest, in ms;
--   number of settlements;
--   for each settlement: operation, fingerprint, claim id, amount, reason, served, use
--     finish   done and delivered. reason: '' or a note to count, and after a space the address to which the page has
--              moved, if it has; amount: when the seed was due, for a scheduled one;
--              served: '1' if plans that ask later can be told of the page, or it is a search page of a scheduled run,
--              else '0', and behind it the plans that it was delivered for, each after a space. Other plans of the seed
--              have asked since it was claimed: it becomes ready for those
--     retry    tried in vain for `reason`: due again in `amount` ms, or failed after MAX_ATTEMPTS tries
--     fail     failed for `reason`; served: as for `finish`, the plans that it was visited for
--     Of `retry` and `fail` ` PLAN EDITION` follows behind the reason for each plan by whose word the page was judged.
--              If the reason is about a plan that was submitted anew since then, the seed is ready again, not failed
--     release  not tried: ready again, due at `amount`
--     postpone not tried: ready again, due in `amount` ms
--     fetch    claimed to be told of its page, but must be fetched: ready for that, due at `amount`; served: its host
--     use: what `used` holds of it (lib/keys.lua); '' where its plans have no budget
--   for each turn: host; token (0: it is kept, this only reports on the host); ms since its last start (-1: none); ms
--     of backoff that the host asks for (0: none); and how many of its requests the host answered well, how many then
--     failed at a seed's first try, and how many the host refused because it is overloaded
-- Returns {how many settlements ended a claim, how many of them it came to, and how many of the turns}. Those that it
--   came to and that ended none found the claim somebody else's by now.

local HEAD_WORDS, SETTLEMENT_WORDS, TURN_WORDS = 9, 7, 7 -- how many of ARGV each part takes
local MAX_FORGIVEN = 20 -- failures in a row that are taken for the pages' own, after a page that was answered
local MOST_MOVED = 50000 -- most pages of which it is kept where to they have moved: 5 MB or so
local MAX_EXPIRED = 20 -- most failed seeds that are forgotten in one call

local channel, other_channel, owner, max_attempts, fail_days, has_times, first_backoff, longest_backoff, number =
  unpack(ARGV, 1, HEAD_WORDS)
max_attempts, fail_days, number = tonumber(max_attempts), tonumber(fail_days), tonumber(number)
first_backoff, longest_backoff = tonumber(first_backoff), tonumber(longest_backoff)

-- Returns the words of the call's nth settlement, and of its nth turn.
local function settlement_words(n)
  local before = HEAD_WORDS + SETTLEMENT_WORDS * (n - 1)
  return unpack(ARGV, before + 1, before + SETTLEMENT_WORDS)
end
local function turn_words(n)
  local before = HEAD_WORDS + SETTLEMENT_WORDS * number + TURN_WORDS * (n - 1)
  return unpack(ARGV, before + 1, before + TURN_WORDS)
end

-- What workers are woken for: a free turn or a seed for later, in this frontier and in the other; seeds that are ready.
local announces_turn, announces_other_turn, announces_release = false, false, false

local finished = { fingerprints = {}, plans = {}, tellable = {} } -- for `finish`: one entry for each seed and plan
local done_with = {} -- fingerprints of seeds that no plan waits for any more

-- Makes a seed ready for a later time; one whose plans are all cancelled fails at once, since the claim that would find
-- that out comes only then.
local function make_ready_later(fingerprint, host, kinds, due, value, further)
  if are_cancelled(kinds) then
    make_failed(fingerprint, kinds, 'cancelled')
  else
    make_ready(fingerprint, host, kinds, due, value, further)
  end
end

-- Ends the claim of a scheduled seed that was visited: it becomes ready for its next visit. `note`: a word to count, or
-- ''. Writes `scheduled`, deletes from `crashes` and `tries`.
local function end_visited(fingerprint, value, host, kinds, due, note)
  if note ~= '' then book_all(kinds, note, 1) end
  call('SADD', scheduled, fingerprint)
  call('HDEL', crashes, fingerprint)
  call('HDEL', tries, fingerprint)
  book_all(kinds, 'visits', 1)
  make_ready_later(fingerprint, host, kinds, math.max(now, due + kinds[1].interval * 1000), value)
end

-- Returns the kinds of a seed whose plans are in `served`; the others, which have asked since it was claimed; and the
-- plans of those (plan -> true).
local function split(kinds, served)
  local of_served, later, is_late = {}, {}, {}
  for _, kind in ipairs(kinds) do
    if string.find(served .. ' ', ' ' .. kind.plan .. ' ', 1, true) then
      of_served[#of_served + 1] = kind
    else
      later[#later + 1] = kind
      is_late[kind.plan] = true
    end
  end
  return of_served, later, is_late
end

-- Notes the address to which a page has moved ('': to none), and counts for some plans that it was another one before.
-- Of very many such pages some are forgotten. Reads and writes `moved`.
local function note_moved(fingerprint, kinds, target)
  local before = (target ~= '' or call('EXISTS', moved) == 1) and call('HGET', moved, fingerprint) or ''
  if before == target then return end
  if before ~= '' then book_all(kinds, 'changed-target', 1) end
  if target == '' then call('HDEL', moved, fingerprint) return end
  if before == '' and call('HLEN', moved) >= MOST_MOVED then
    call('HDEL', moved, unpack(call('HRANDFIELD', moved, 2)))
  end
  call('HSET', moved, fingerprint, target)
end

-- Ends the claim of a seed that was delivered for the plans in `served`, who count the note with it; or that another
-- page is crawled in place of, at the address `target` ('': there is none). For other plans, such as those that have
-- asked since, it becomes ready: to be told of the page, or where that isn't possible to have it fetched again. Deletes
-- from `crashes` and `tries`; writes `seed`, `also` and `moved`.
local function end_delivered(fingerprint, value, further, host, kinds, served, note, target)
  local tellable = string.byte(served) == 49 -- 1
  local of_served, later, is_late = split(kinds, served)
  for _, kind in ipairs(of_served) do
    local at = #finished.fingerprints + 1
    finished.fingerprints[at], finished.plans[at], finished.tellable[at] = fingerprint, kind.plan, tellable
  end
  book_all(of_served, 'finished', 1)
  if note ~= '' then book_all(of_served, note, 1) end
  note_moved(fingerprint, of_served, target)
  if #later == 0 then done_with[#done_with + 1] = fingerprint; return end
  if tellable then host = DELIVERED end
  call('HDEL', crashes, fingerprint)
  call('HDEL', tries, fingerprint)
  value, further = keep_plans(fingerprint, value, further, is_late, host)
  make_ready(fingerprint, host, later, now, value, further)
  announces_release = true
end

-- Ends the claim of a seed that was to be told of its page: it becomes ready to be fetched from its host. Writes
-- `seed`.
local function end_untold(fingerprint, value, further, host, kinds, due)
  local is_kept = {}
  for _, kind in ipairs(kinds) do is_kept[kind.plan] = true end
  keep_plans(fingerprint, value, further, is_kept, host)
  make_ready_later(fingerprint, host, kinds, due, value, further)
  announces_release = true
end

-- Returns whether one of some plans was submitted anew since a page was judged by its word (`judged`: ` PLAN EDITION`
-- for each), or since it was claimed: nobody has asked the new one. Editions are times.
local function has_new_word(kinds, judged, claimed_at)
  local editions = {}
  for plan, edition in string.gmatch(judged, '([^ ]+) (%d+)') do editions[plan] = edition end
  for _, kind in ipairs(kinds) do
    if select(2, state_of_plan(kind.plan)) > tonumber(editions[kind.plan] or claimed_at) then return true end
  end
  return false
end

-- Ends the claim of a seed that failed for a reason which says nothing of the page to other plans than those in
-- `served`. For plans that have asked since it was claimed it becomes ready; and for all, where a plan's new word may
-- be another one: what had failed before came back as that was submitted. Reads `execute`; writes `seed` and `also`;
-- deletes from `tries` and `reasons`; the seed is new again to the plans that it failed for.
local function end_refused(fingerprint, value, further, host, kinds, served, reason, judged)
  local refused, later, is_late = split(kinds, served)
  if has_new_word(refused, judged, call('ZSCORE', execute, fingerprint) or now) then
    call('HDEL', tries, fingerprint)
    call('HDEL', reasons, fingerprint)
    make_ready_later(fingerprint, host, kinds, now, value, further)
    announces_release = true
    return
  end
  if #later == 0 then make_failed(fingerprint, kinds, reason); return end
  void_receipts()
  book_all(refused, 'failed', 1)
  book_all(refused, 'failed:' .. reason, 1)
  call('HDEL', tries, fingerprint)
  call('HDEL', reasons, fingerprint)
  value, further = keep_plans(fingerprint, value, further, is_late, host)
  make_ready_later(fingerprint, host, later, now, value, further)
  announces_release = true
end

-- Ends the claim of a seed that was tried in vain: it becomes ready for another try, or for its next visit if it is
-- scheduled, or fails. Writes `tries`, `reasons` and `scheduled`, deletes from `crashes`.
local function end_unfinished(fingerprint, value, further, host, kinds, wait_ms, reason, may_retry, served, judged)
  call('HDEL', crashes, fingerprint)
  local tried, interval = increment(tries, fingerprint, 1), kinds[1].interval
  if may_retry and tried < max_attempts then
    call('HSET', reasons, fingerprint, reason)
    book_all(kinds, 'retried', 1)
    make_ready_later(fingerprint, host, kinds, now + wait_ms, value, further)
  elseif interval > 0 then -- it is asked again at its next time, whatever became of it now
    call('SADD', scheduled, fingerprint)
    call('HSET', reasons, fingerprint, reason)
    call('HDEL', tries, fingerprint)
    book_all(kinds, 'missed', 1)
    make_ready_later(fingerprint, host, kinds, now + interval * 1000, value)
  elseif IS_OF_PLANS[reason] then
    end_refused(fingerprint, value, further, host, kinds, served, reason, judged)
  else
    make_failed(fingerprint, kinds, reason)
  end
end

-- Writes down which seeds are finished for which plans. A seed that no plan waits for is deleted everywhere else.
local function record_finished()
  if #finished.fingerprints == 0 then return end
  add_finished(finished.fingerprints, finished.plans, finished.tellable, has_times == '1')
  if #done_with == 0 then return end
  write_all('HDEL', seed, done_with)
  for _, key in ipairs({ also, tries, reasons, crashes }) do
    if call('EXISTS', key) == 1 then write_all('HDEL', key, done_with) end
  end
  local by_plan = {}
  for n, fingerprint in ipairs(finished.fingerprints) do append_to(by_plan, finished.plans[n], fingerprint) end
  for plan, fingerprints in pairs(by_plan) do write_all('SREM', wanted .. plan, fingerprints) end
end

-- Ends the claims of the call that are still the owner's. Reads `claims`, `seed` and `also`; writes `used`; deletes
-- from `execute`, `claims` and held:OWNER. Returns how many claims it ended, and how many it came to.
local function settle()
  local fingerprints = {}
  for n = 1, number do fingerprints[n] = select(2, settlement_words(n)) end
  local present, values = read_all('HMGET', claims, fingerprints), read_all('HMGET', seed, fingerprints)
  local further = read_further(fingerprints)
  local ended, is_ended, done = {}, {}, 0
  for n, fingerprint in ipairs(fingerprints) do
    if not has_time() then break end
    local operation, _, claim, amount_text, words, served, use = settlement_words(n)
    local amount, reason, behind = tonumber(amount_text), string.match(words, '^([^ ]*) ?(.*)$')
    if present[n] == claim and values[n] and not is_ended[fingerprint] then
      local host, kinds = host_and_kinds(values[n], further[n])
      local interval = kinds[1].interval
      ended[#ended + 1] = fingerprint
      is_ended[fingerprint] = true
      book_all(kinds, 'executing', -1)
      local has_used = not (operation == 'fail' and string.match(reason, '^budget%-'))
      if use ~= '' and has_used then
        call('HSET', used, fingerprint .. claim, use)
      end
      if operation == 'finish' then
        if interval > 0 then
          end_visited(fingerprint, values[n], host, kinds, amount, reason)
        else
          end_delivered(fingerprint, values[n], further[n], host, kinds, served, reason, behind)
        end
      elseif operation == 'postpone' then
        make_ready_later(fingerprint, host, kinds, now + amount, values[n], further[n])
      elseif operation == 'release' then
        make_ready(fingerprint, host, kinds, amount, values[n], further[n])
        announces_release = true
      elseif operation == 'fetch' then
        end_untold(fingerprint, values[n], further[n], served, kinds, amount)
      else
        local may_retry = operation == 'retry'
        end_unfinished(fingerprint, values[n], further[n], host, kinds, amount, reason, may_retry, served, behind)
      end
      announces_turn = announces_turn or interval > 0 or operation == 'retry' or operation == 'postpone'
    end
    done = n
  end
  write_all('ZREM', execute, ended)
  write_all('HDEL', claims, ended)
  write_all('SREM', held .. owner, ended)
  record_finished()
  if done > #ended then increment(counts, 'refused', done - #ended) end
  return #ended, done
end

-- Changes a host's level of errors by what a turn's requests say. A page that is answered halves it, so that a host
-- that is back is soon asked as often as when it is well. A failure raises it by one, unless the host's other pages
-- answer: then it is the page's own. An overload always raises it. A seed that fails again is not told of here: it says
-- more of the page than of the host. Each level doubles the backoff after a request. Requests that were started before
-- the level rose change nothing: they failed for the same reason. Writes the fields of errors. Returns when the
-- host may be asked again, in ms; 0 when it is well or nothing is said of it.
local function weigh_errors(host_turns, last_start, delay, answers, failures, overloads)
  local level, rose_at = tonumber(host_turns.fields[FIELD.error_level] or '0'), host_turns.fields[FIELD.level_rose]
  if answers + failures + overloads == 0 or level > 0 and last_start < tonumber(rose_at or '0') then return 0 end
  local forgiven_before = tonumber(host_turns.fields[FIELD.forgiven_left] or '0')
  local forgiven_left = answers > 0 and MAX_FORGIVEN or forgiven_before
  local own = math.min(failures, forgiven_left)
  if forgiven_left - own ~= forgiven_before then
    set_field(host_turns, FIELD.forgiven_left, text(forgiven_left - own))
  end
  local pause, level_max = math.max(delay, first_backoff), 1
  while pause * 2 ^ (level_max - 1) < longest_backoff do level_max = level_max + 1 end
  local new = math.min(math.floor(level / 2 ^ answers) + failures - own + overloads, level_max)
  if new == 0 then
    if level == 0 then return 0 end
    delete_field(host_turns, FIELD.error_level)
    delete_field(host_turns, FIELD.level_rose)
    return 0
  end
  set_field(host_turns, FIELD.error_level, text(new))
  set_field(host_turns, FIELD.level_rose, new > level and now_text or rose_at or '0')
  return last_start + delay + math.min(pause * 2 ^ (new - 1), longest_backoff)
end

-- Begins a backoff, unless one that lasts longer has begun, and tells those who hold other turns of the host. Writes
-- `backoff_ends`. Turns of an @ADDRESS are held for one request each, so there is nobody to tell.
local function back_off(host_turns, ends_at)
  if ends_at <= now or ends_at <= tonumber(host_turns.fields[FIELD.backoff_ends] or '0') then return end
  set_field(host_turns, FIELD.backoff_ends, text(ends_at))
  if host_turns.held > 0 and not is_address(host_turns) then
    local message = string.format('backoff %d %s', ends_at - now, host_turns.host)
    call('PUBLISH', channel, message)
    call('PUBLISH', other_channel, message)
  end
end

-- Releases the call's turns and takes in what they say of their hosts. Reads and writes the hosts' turns, and `hosts`
-- of both frontiers. Returns how many it came to.
local function release_turns()
  local turns, done = (#ARGV - HEAD_WORDS - SETTLEMENT_WORDS * number) / TURN_WORDS, 0
  for n = 1, turns do
    if not has_time() then break end
    local host, turn_token, since_start, backoff_ms, answers, failures, overloads = turn_words(n)
    since_start, backoff_ms = tonumber(since_start), tonumber(backoff_ms)
    answers, failures, overloads = tonumber(answers), tonumber(failures), tonumber(overloads)
    local host_turns = turns_of(host)
    local delay, ends_at = politeness_of(host_turns), backoff_ms > 0 and now + backoff_ms or 0
    if since_start >= 0 then
      local last_start = now - since_start
      release_turn(host_turns, owner, turn_token, last_start + delay)
      ends_at = math.max(ends_at, weigh_errors(host_turns, last_start, delay, answers, failures, overloads))
    else
      release_turn(host_turns, owner, turn_token, nil)
    end
    back_off(host_turns, ends_at)
    local is_ready, other_is_ready = update_host_in_both(host_turns)
    announces_turn, announces_other_turn = announces_turn or is_ready, announces_other_turn or other_is_ready
    done = n
  end
  return done
end

-- Forgets some of the seeds that failed more than FAIL_DAYS ago.
local function forget_expired()
  local expired = call('ZRANGE', fail, '-inf', now - fail_days * 86400000, 'BYSCORE', 'LIMIT', 0, MAX_EXPIRED)
  write_all('ZREM', fail, expired)
  for _, fingerprint in ipairs(expired) do
    local _, kinds = host_and_kinds(call('HGET', seed, fingerprint) or '', further_of(fingerprint))
    forget_seed(fingerprint, kinds)
  end
end

local accepted, settlements_done = settle()
local turns_done = release_turns()
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
return { accepted, settlements_done, turns_done }
