#!lua
-- Needs: keys, values, clock, budget, ledger, finished, turns, order, hosts, states, plans, combinations.
--
-- Proposes seeds, each for a plan.
--
--   the seed ...                                        becomes                               is counted as
--   nobody has asked for                                ready                                 offered
--     where the caller has a reason                     failed for that                       offered
--   waits or executes for other plans                   this plan's, too                      offered
--   was delivered for others                            ready, without a fetch: it is told    offered
--   this plan has asked for before                      as it was; keeps the words and the    offered, known
--                                                       smallest depth, unless finished
--                                                       (lib/combinations.lua), and comes
--                                                       sooner by that, or by its scorer
--   failed by its own tries                             as it was                             offered, known
--   failed for it as part of a trap, and comes by a     ready                                 offered, known
--     link that is better (`lighten`)
--   failed since its plan was cancelled                 as if nobody had asked for it         offered
--   failed, which says nothing of it to this plan, or   ready, for this plan and those that   offered
--     after it was delivered                              it failed for
--   was finished for this plan without an item, and   ready                                 -
--     the call says `again`
--   is over its host's budget of followed links         failed for that                       offered
--     as many are already, or the caller has a reason   nothing                               over-budget alone
--   failed for that, and comes by a link that has room  ready                                 offered, known
--   is one of which only filters of finished pages      nothing                               over-error-budget alone
--     could tell, and they err too often (lib/filter)
--   is refused by the caller                            nothing                               the caller's reason alone
--   is of a search page whose submission was replaced   nothing: the new one reads it         replaced alone
--   is remembered by the caller as known                as it was                             offered, known
--   is of a plan that was deleted                       nothing                               nothing
--
-- What a cancelled plan asks for, as pages do that were under way, is noted where others have it (cancelled:PLAN).
--
-- ARGV: wake channel; the plan's edition that asked for the page which led to these seeds (0: not said);
--   owner ('': one who remembers nothing); number of the receipt that this call leaves, and of the one that it relies
--     on ('': none);
--   the budget of each host for followed links, as 'SEEDS WINDOW_MS' ('': none, or the seeds aren't followed links);
--   'again' where seeds are offered anew that were finished without an item, else '';
--   the reason for which new seeds fail at once ('': none);
--   how many counts follow;
--   for each count: `PLAN SITE INTERVAL`; 'known' (they are remembered so) or the reason why they are refused; of how
--     many seeds;
--   for each seed: fingerprint, stored value, when it is due in ms ('0': now).
-- Returns one byte, an answer below, for each seed that it came to, from the first on. Returns nil, and does nothing,
-- where the receipt that it relies on isn't there any more.

-- The answers, as crawler/frontier/offer.py:OfferAnswer has them.
local ANSWER = {
  known_finished = '0', new_stays_known = '1', refused = '2', plan_deleted = '3', known = '4', new = '5',
  known_stays_known = '6',
}

local COUNTS_FROM = 10 -- the place in ARGV where the counts begin
local COUNT_WORDS = 3
local OVER = 'budget-follow' -- the reason of a seed that is kept though its host's budget of links has no room for it
local SEED_WORDS = 3

local channel, edition, owner, receipt, relied_on = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local budget, window_ms = string.match(ARGV[6], '^(%d+) (%d+)$')
local SEEDS_FROM = COUNTS_FROM + COUNT_WORDS * tonumber(ARGV[9])
local seed_count = (#ARGV - SEEDS_FROM + 1) / SEED_WORDS

-- What is known of the call's seeds, by fingerprint, and kept up to date. `stored`: the value in `seed`, as its first
-- plan wants it; `further`: what `also` holds, a line for each further plan; `has_failed` and `is_parked`: true;
-- `has_new_words`: true where one of those plans has found the seed by other words, which `store` writes.
local stored, further, has_failed, is_parked, has_new_words = {}, {}, {}, {}, {}

local new_ranks = {} -- fingerprint -> rank, of those new seeds that are due (lib/order.lua)
local is_any_ready = false -- whether a seed is ready that was not
local visited = {} -- fingerprints of new scheduled seeds whose page was visited before they were offered

-- Returns the stored value of a page of a host that was delivered before: its plan is told of it without a fetch.
local function without_fetch(value, host) return DELIVERED .. string.sub(value, #host + 1) end

-- Forgets a seed that failed when its last plan was cancelled, so that it is new to a plan that isn't.
local function forget_cancelled(fingerprint)
  note_cancelled(fingerprint, stored[fingerprint], further[fingerprint])
  local _, kinds = host_and_kinds(stored[fingerprint], further[fingerprint])
  call('ZREM', fail, fingerprint)
  forget_seed(fingerprint, kinds)
  stored[fingerprint], further[fingerprint], has_failed[fingerprint] = nil, nil, nil
end

-- Returns whether a seed is stored for a plan.
local function is_wanted_by(fingerprint, plan)
  if not stored[fingerprint] then return false end
  local _, kinds = host_and_kinds(stored[fingerprint], further[fingerprint])
  for _, kind in ipairs(kinds) do
    if kind.plan == plan then return true end
  end
  return false
end

-- Reads what is known. Returns for each seed that isn't stored for its plan what look_up_finished says: it may be
-- finished for that plan, and stored for others who can't be told of it. Reads `seed`, `also`, `fail`, `parked`,
-- `reasons`, `finish`.
local function read_known(fingerprints, kinds)
  local unfinished, absent, plans, places, finished = {}, {}, {}, {}, {}
  for n, value in ipairs(read_all('HMGET', seed, fingerprints)) do
    local fingerprint = fingerprints[n]
    if value then unfinished[#unfinished + 1] = fingerprint end
    stored[fingerprint] = value or nil
  end
  for n, lines in ipairs(read_further(unfinished)) do further[unfinished[n]] = lines end
  if #unfinished > 0 and call('EXISTS', parked) == 1 then
    for n, score in ipairs(read_all('ZMSCORE', parked, unfinished)) do is_parked[unfinished[n]] = score and true end
  end
  if #unfinished > 0 and call('EXISTS', fail) == 1 then
    for n, score in ipairs(read_all('ZMSCORE', fail, unfinished)) do has_failed[unfinished[n]] = score and true end
  end
  for n, fingerprint in ipairs(fingerprints) do
    if has_failed[fingerprint] and stop_of(kinds[n].plan) ~= 'cancel'
      and call('HGET', reasons, fingerprint) == 'cancelled' then forget_cancelled(fingerprint) end
  end
  -- All of those first: the call may offer such a seed for its cancelled plan, too, to which it is new again.
  for n, fingerprint in ipairs(fingerprints) do
    if not is_wanted_by(fingerprint, kinds[n].plan) then
      absent[#absent + 1], plans[#plans + 1], places[#places + 1] = fingerprint, kinds[n].plan, n
    end
  end
  for k, answer in ipairs(look_up_finished(absent, plans)) do
    local fingerprint, plan, kind = absent[k], plans[k], kinds[places[k]]
    local may_reopen = answer == 'known' and ARGV[7] == 'again' and state_of_plan(plan) ~= 'deleted'
    if may_reopen and not stored[fingerprint] then
      if reopen_finished(fingerprint, plan) then
        book(kind, 'offered', -1) -- it was counted before, and is once more now
        book(kind, 'finished', -1)
      end
      answer = look_up_finished({ fingerprint }, { plan })[1]
    end
    finished[places[k]] = answer
  end
  return finished
end

local followed_now = {} -- host -> followed seeds in this call

-- Takes one seed off a host's budget of followed links. Reads followed:HOST. Returns whether there was room for it.
local has_room
-- Returns whether one for which there was none may be kept as failed, until there is; takes its place. Reads and writes
-- over:HOST.
local may_keep
do -- a script has at most 200 locals at once
  local KEPT_LEAST, followed_before = 100, {} -- of each host so many are kept, or as many as its budget has links
  function has_room(host)
    if not budget then return true end
    followed_before[host] = followed_before[host] or tonumber(call('GET', followed .. host) or '0')
    local here = followed_now[host] or 0
    if followed_before[host] + here >= tonumber(budget) then return false end
    followed_now[host] = here + 1
    return true
  end
  function may_keep(host)
    local kept = tonumber(call('GET', over .. host) or '0')
    if ARGV[8] ~= '' or kept >= math.max(tonumber(budget), KEPT_LEAST) then return false end
    if call('INCRBY', over .. host, 1) == 1 then call('PEXPIRE', over .. host, window_ms) end
    return true
  end
end

-- Makes a failed seed ready again if its failure doesn't count for another plan, which is about to share it: for that
-- plan and for those that it failed for. They all get one more visit, so that they don't forget each other's failures
-- in turn. So it does for a plan of its own for which it takes from fewer budgets of traps by now; and for which its
-- host's budget of followed links has room by now. Returns whether it did. Reads and writes `reasons` and over:HOST,
-- deletes from `fail`, writes `seed`.
local function revive(fingerprint, plan, was_delivered, is_lighter)
  local value, reason = stored[fingerprint], call('HGET', reasons, fingerprint) or 'unknown'
  local fails_for_all = not was_delivered and not IS_OF_PLANS[reason]
  local was_trapped = is_lighter and string.match(reason, '^trap%-')
  if fails_for_all or stop_of(plan) == 'cancel' then return false end
  local was_over = reason == OVER and not was_delivered
  if is_wanted_by(fingerprint, plan) and not was_trapped and not was_over then return false end
  local host, kinds = host_and_kinds(value, further[fingerprint])
  if was_over and (ARGV[8] ~= '' or not has_room(host)) then return false end
  if was_over and tonumber(call('GET', over .. host) or '0') > 0 then call('INCRBY', over .. host, -1) end
  if was_delivered then
    stored[fingerprint] = without_fetch(value, host)
    call('HSET', seed, fingerprint, stored[fingerprint])
    host = DELIVERED
  end
  call('ZREM', fail, fingerprint)
  call('HDEL', reasons, fingerprint)
  book_all(kinds, 'failed', -1)
  book_all(kinds, 'failed:' .. reason, -1)
  make_ready(fingerprint, host, kinds, now, stored[fingerprint], further[fingerprint])
  has_failed[fingerprint], is_any_ready = nil, true
  return true
end

-- Has a plan want a stored seed, too, unless the seed is known to it: the plan has asked for it before, or it failed by
-- its own tries, and was never delivered. Returns whether it is known. Writes `also`, wanted:PLAN and cancelled:PLAN.
local share
do -- a script has at most 200 locals at once
  -- Adds the combinations that an offered value of a seed has to what is stored for the same plan, and takes its depth
  -- where that is smaller; does nothing where nothing is. `store` writes them.
  local function add_combinations(fingerprint, value, kind)
    local before, lines = stored[fingerprint], further[fingerprint]
    if split_seed(before) == kind.plan then
      stored[fingerprint] = order.with_smaller_depth(with_combinations(before, value), value)
      if stored[fingerprint] ~= before then has_new_words[fingerprint] = true end
    elseif lines then
      local new_lines = {}
      for line in string.gmatch(lines, '[^\n]+') do
        local is_of_plan = string.match(line, '^[^ ]+') == kind.plan -- the line is `PLAN JSON`
        local merged = is_of_plan and order.with_smaller_depth(with_combinations(line, value), value)
        new_lines[#new_lines + 1] = merged or line
      end
      further[fingerprint] = table.concat(new_lines, '\n')
      if further[fingerprint] ~= lines then has_new_words[fingerprint] = true end
    end
  end

  -- Lets a seed that waits, and is due, come as soon as a rank asks for, where that is sooner than so far. Returns
  -- whether it does. Reads and writes ready:HOST.
  local function let_come_sooner(fingerprint, host, rank)
    if new_ranks[fingerprint] then -- it is new in this call
      local is_sooner = rank < new_ranks[fingerprint]
      new_ranks[fingerprint] = math.min(rank, new_ranks[fingerprint])
      return is_sooner
    end
    if host == DELIVERED then return false end
    local score = tonumber(call('ZSCORE', ready .. host, fingerprint) or '0')
    local is_sooner = score < 0 and rank < order.rank_at(score)
    if is_sooner then call('ZADD', ready .. host, text(order.score_of(rank, order.due_of(score))), fingerprint) end
    return is_sooner
  end

  -- Has a seed that waits take the better place that its first plan's scorer gives it by now, as a link that says more
  -- of the page has been found: an offer with a scorer's word has the key `y` (crawler/base/models.py). Its words stay.
  -- So does all of one with the key `a`, on which a page relies that has named it as the one to index.
  local function take_better_place(fingerprint, host, value, plan)
    local before = stored[fingerprint]
    local is_scored = string.find(value, ',"y":"', 1, true) and not string.find(before, ',"a":"', 1, true)
    if not is_scored or split_seed(before) ~= plan then return end
    -- Which budgets of traps it takes from, `lighten` has decided.
    local mark = string.match(before, ',"z":"%w+"') or ''
    value = string.gsub(string.gsub(value, ',"z":"%w+"', '', 1), '}$', mark .. '}')
    value = order.with_smaller_depth(value, before)
    local rank = order.rank_of(value)
    if rank < order.rank_of(before, further[fingerprint]) and let_come_sooner(fingerprint, host, rank) then
      stored[fingerprint], has_new_words[fingerprint] = with_combinations(value, before), true
    end
  end

  -- Has a stored seed take from fewer budgets of traps (crawler/worker/offers/traps.py:Traps), as a link to it says
  -- that is better for the same plan; or from that of another text, where one had no room. Returns whether it does.
  -- `store` writes it. What a link was marked with is the key `z` of a stored value, or of a line of `also`.
  local function lighten(fingerprint, value)
    local WEIGHTS, is_lighter = { [''] = 0, s = 1, k = 2 }, false -- from how many it takes; of all others: 3
    local function mark_of(said) return string.match(said, ',"z":"(%w+)"') or '' end
    if mark_of(stored[fingerprint] .. (further[fingerprint] or '')) == '' then return false end
    local plan, mark = split_seed(value), mark_of(value)
    local had_no_room = has_failed[fingerprint] and call('HGET', reasons, fingerprint) == 'trap-same-text'
    local function lightened(before)
      local is_other = had_no_room and mark ~= mark_of(before)
      if (WEIGHTS[mark] or 3) >= (WEIGHTS[mark_of(before)] or 3) and not is_other then return before end
      is_lighter, has_new_words[fingerprint] = true, true
      return (string.gsub(before, ',"z":"%w+"', mark == '' and '' or ',"z":"' .. mark .. '"', 1))
    end
    if split_seed(stored[fingerprint]) == plan then
      stored[fingerprint] = lightened(stored[fingerprint])
    elseif further[fingerprint] then
      further[fingerprint] = string.gsub(further[fingerprint], '[^\n]+', function(line)
        return string.match(line, '^[^ ]+') == plan and lightened(line) or nil
      end)
    end
    return is_lighter
  end

  function share(fingerprint, value, kind, was_delivered)
    local is_cancelled = stop_of(kind.plan) == 'cancel'
    if is_cancelled and not is_wanted_by(fingerprint, kind.plan) then
      local noted = call('HGET', cancelled .. kind.plan, fingerprint)
      call('HSET', cancelled .. kind.plan, fingerprint, noted and with_combinations(noted, value) or value)
    end
    local rank_before = order.rank_of(stored[fingerprint], further[fingerprint])
    add_combinations(fingerprint, value, kind)
    local rank = order.rank_of(stored[fingerprint], further[fingerprint])
    local is_lighter = not was_delivered and lighten(fingerprint, value)
    if has_failed[fingerprint] and not revive(fingerprint, kind.plan, was_delivered, is_lighter) then return true end
    local host, kinds = host_and_kinds(stored[fingerprint], further[fingerprint])
    local had_asked = is_cancelled or is_wanted_by(fingerprint, kind.plan)
    if had_asked then
      if rank < rank_before then let_come_sooner(fingerprint, host, rank) end
      take_better_place(fingerprint, host, value, kind.plan)
    else
      let_come_sooner(fingerprint, host, order.rank_of(value))
      local plan, _, json = split_seed(value)
      local line, lines = plan .. ' ' .. json, further[fingerprint]
      further[fingerprint] = lines and lines .. '\n' .. line or line
      call('HSET', also, fingerprint, further[fingerprint])
      call('SADD', wanted .. kind.plan, fingerprint)
      kinds = { kind, unpack(kinds) }
      local is_held = call('ZSCORE', execute, fingerprint)
      local state = is_held and 'executing' or is_parked[fingerprint] and 'parked' or 'ready'
      book(kind, state, 1)
    end
    if is_parked[fingerprint] then
      local was_unparked = unpark_if_wanted(fingerprint, host, kinds, stored[fingerprint], further[fingerprint])
      if was_unparked then is_parked[fingerprint], is_any_ready = nil, true end
    end
    return had_asked
  end
end

-- Returns whether a plan takes no offers any more, since a page may still be read that was asked for before: 'deleted',
-- 'replaced' where it was submitted anew, or nil.
local function refusal_of(plan)
  local state, newest = state_of_plan(plan)
  if state == 'deleted' then return state end
  return edition > 0 and newest > edition and 'replaced' or nil
end

-- Books what is only counted.
local function book_counts()
  for at = COUNTS_FROM, SEEDS_FROM - 1, COUNT_WORDS do
    local kind, counted_as, seeds = kind_of(ARGV[at]), ARGV[at + 1], tonumber(ARGV[at + 2])
    local refusal = refusal_of(kind.plan)
    if refusal == 'replaced' then
      book(kind, refusal, seeds)
    elseif not refusal then
      book(kind, counted_as, seeds)
      if counted_as == 'known' then book(kind, 'offered', seeds) end
    end
  end
end

-- Returns whether a seed that its plan has just asked for, and that isn't finished for it, stays known to the plan
-- until receipts are voided: it is on its way for a plan that isn't stopped. A scheduled one is never finished.
local function stays_known(fingerprint, kind)
  return kind.interval == 0 and not has_failed[fingerprint] and not stop_of(kind.plan)
end

-- Answers each seed and books it. Returns the answers; the new seeds as fingerprint, value, fingerprint, value...; for
-- each plan the fingerprints of its new seeds; and for each host of theirs a list due, fingerprint, due,
-- fingerprint..., and when the first of them is due.
local function answer_seeds()
  local fingerprints, hosts_of, kind_at = {}, {}, {}
  for n = 1, seed_count do
    local at = SEEDS_FROM + SEED_WORDS * (n - 1)
    local host, kinds = host_and_kinds(ARGV[at + 1])
    fingerprints[n], hosts_of[n], kind_at[n] = ARGV[at], host, kinds[1]
  end
  local finished, answers = read_known(fingerprints, kind_at), {}
  local new, new_by_plan, new_by_host, first_due_of = {}, {}, {}, {}
  for n, fingerprint in ipairs(fingerprints) do
    if not has_time() then break end
    local at = SEEDS_FROM + SEED_WORDS * (n - 1)
    local value, due_text, host, kind = ARGV[at + 1], ARGV[at + 2], hosts_of[n], kind_at[n]
    local refusal = refusal_of(kind.plan)
    local is_met = stored[fingerprint] or finished[n] == 'known' or finished[n] == 'delivered'
    local is_over = not refusal and not is_met and finished[n] ~= 'refused' and not has_room(host)
    if refusal == 'deleted' then
      answers[n] = ANSWER.plan_deleted
    elseif refusal then
      book(kind, refusal, 1)
      answers[n] = ANSWER.refused
    elseif finished[n] == 'refused' then
      book(kind, 'over-error-budget', 1)
      answers[n] = ANSWER.refused
    elseif stored[fingerprint] or finished[n] == 'known' then
      local known = finished[n] == 'known' or share(fingerprint, value, kind, finished[n] == 'delivered')
      book(kind, 'offered', 1)
      if known then book(kind, 'known', 1) end
      if finished[n] == 'known' then
        answers[n] = ANSWER.known_finished
      elseif stays_known(fingerprint, kind) then
        answers[n] = known and ANSWER.known_stays_known or ANSWER.new_stays_known
      else
        answers[n] = known and ANSWER.known or ANSWER.new
      end
    elseif is_over and not may_keep(host) then
      book(kind, 'over-budget', 1)
      answers[n] = ANSWER.refused
    elseif finished[n] ~= 'delivered' and (ARGV[8] ~= '' or is_over) then
      book(kind, 'offered', 1)
      make_failed(fingerprint, { kind }, is_over and OVER or ARGV[8])
      stored[fingerprint], has_failed[fingerprint] = value, true
      answers[n] = is_over and ANSWER.refused or ANSWER.new
      new[#new + 1], new[#new + 2] = fingerprint, value
      append_to(new_by_plan, kind.plan, fingerprint)
    else
      is_any_ready = true
      if finished[n] == 'delivered' then
        value, host = without_fetch(value, host), DELIVERED
      end
      book(kind, 'offered', 1)
      book(kind, 'ready', 1)
      answers[n] = stays_known(fingerprint, kind) and ANSWER.new_stays_known or ANSWER.new
      stored[fingerprint] = value -- should it come twice in this call
      local due = tonumber(due_text)
      new[#new + 1] = fingerprint
      new[#new + 1] = value
      append_to(new_by_plan, kind.plan, fingerprint)
      if kind.interval > 0 and due > now + kind.interval * 500 then -- its next visit: later than half its interval
        visited[#visited + 1] = fingerprint
        book(kind, 'waiting', 1)
      end
      if due == 0 then due = now end
      if due <= now and host ~= DELIVERED then new_ranks[fingerprint] = order.rank_of(value) end
      append_to(new_by_host, host, due)
      append_to(new_by_host, host, fingerprint)
      first_due_of[host] = math.min(first_due_of[host] or due, due)
    end
  end
  return answers, new, new_by_plan, new_by_host, first_due_of
end

-- Ends what is noted of seeds for their plans, which have asked for them now. Deletes from cancelled:PLAN.
local function end_notes(answers)
  local has_notes = {}
  for _, kind in pairs(all_kinds) do
    local may_have = kind.booked.offered and stop_of(kind.plan) ~= 'cancel'
    if may_have and call('EXISTS', cancelled .. kind.plan) == 1 then has_notes[kind.plan] = true end
  end
  if not next(has_notes) then return end
  for n, answer in ipairs(answers) do
    local at = SEEDS_FROM + SEED_WORDS * (n - 1)
    local plan = split_seed(ARGV[at + 1])
    if has_notes[plan] and answer ~= ANSWER.refused then call('HDEL', cancelled .. plan, ARGV[at]) end
  end
end

-- Writes the new seeds: ready:HOST, `hosts`, `scheduled`, followed:HOST, wanted:PLAN; `also` of those that have grown;
-- and `seed` of both at the end, so that none is known where junk in another key breaks the call off before. A host
-- with older seeds keeps its score, which may be later than their time since its turns are taken; unless a new seed is
-- due before all of them.
local function store(new, new_by_plan, new_by_host, first_due_of)
  local names = {}
  for host in pairs(new_by_host) do names[#names + 1] = host end
  for n, score in ipairs(read_all('ZMSCORE', hosts, names)) do
    local host, due = names[n], first_due_of[names[n]]
    local older = score and due < tonumber(score) and first_due(ready, host)
    if not score or due < tonumber(score) and (not older or due < older) then
      place_host_no_later(hosts, host, due)
    end
    local scores = new_by_host[host]
    for at = 1, #scores, 2 do
      local rank = new_ranks[scores[at + 1]]
      scores[at] = text(rank and order.score_of(rank, scores[at]) or scores[at])
    end
    write_all('ZADD', ready .. host, scores)
  end
  for host, seeds in pairs(followed_now) do
    if call('INCRBY', followed .. host, seeds) == seeds then call('PEXPIRE', followed .. host, window_ms) end
  end
  for plan, fingerprints in pairs(new_by_plan) do write_all('SADD', wanted .. plan, fingerprints) end
  write_all('SADD', scheduled, visited)
  local lines = {}
  for fingerprint in pairs(has_new_words) do
    new[#new + 1], new[#new + 2] = fingerprint, stored[fingerprint]
    if further[fingerprint] then lines[#lines + 1], lines[#lines + 2] = fingerprint, further[fingerprint] end
  end
  write_all('HSET', also, lines)
  write_all('HSET', seed, new)
end

if relied_on ~= '' and call('HGET', receipts, owner) ~= relied_on then return false end
-- A lapsed owner leaves none: no session would end any more that it goes with.
if receipt ~= '' and call('ZSCORE', sessions, owner) then call('HSET', receipts, owner, receipt) end
book_counts()
local answers, new, new_by_plan, new_by_host, first_due_of = answer_seeds()
if #new > 0 or next(has_new_words) or next(followed_now) then store(new, new_by_plan, new_by_host, first_due_of) end
end_notes(answers)
if is_any_ready then call('PUBLISH', channel, 'offer') end
flush_hosts()
flush_ledger()
return table.concat(answers)
