-- The keys of one partition, and what each holds. Every script gets all of them, in the order in which frontier/keys.py
-- builds them.
--
-- Gives the scripts: a local name for each key; `frontier` and `other_frontier`.
--
-- A fingerprint is the 16 bytes that identify a seed. Times are ms since the epoch by the partition's clock
-- (lib/clock.lua). Of ready:HOST and the like, of which there is one for each host, owner or plan, a script gets the
-- beginning (`ready:`) and appends the rest.
--
-- Of this frontier:
--   lock              String: a token of the one claimant who is at work; expires. It only keeps contention down: no
--                     guarantee rests on it.
--   hosts             Sorted set: host -> when a claim of its seeds can succeed. Holds every host that has ready seeds.
--                     A score may be too early (the next claim corrects it), never too late. Hosts that only workers
--                     with a browser can crawl have scores of their own (lib/browsers.lua).
--   ready:HOST        Sorted set: fingerprint -> when the seed is due, or its place among those that are
--                     (lib/order.lua). Seeds that wait to be claimed.
--   execute           Sorted set: fingerprint -> when the seed was claimed. Seeds that somebody holds.
--   claims            Hash: fingerprint -> the id of the claim under which it is held, `OWNER#NUMBER`.
--   held:OWNER        Set: the fingerprints that an owner holds.
--   finish            Hash: the finished seeds, packed as lib/finished.lua says.
--   plan_numbers      Hash: plan -> the number that stands for it in `finish`.
--   fail              Sorted set: fingerprint -> when the seed failed for good. Forgotten after FAIL_DAYS.
--   seed              Hash: fingerprint -> `HOST PLAN SITE INTERVAL JSON`, for every seed that is not finished.
--                     PLAN is the first of the plans that want it. INTERVAL is the time between two visits of a
--                     scheduled seed in s, 0 for a seed that is visited once. No script parses the JSON: Lua's numbers
--                     would lose digits. Two small ones at its beginning say what comes first (lib/order.lua). HOST is
--                     `+` for a page that was delivered before these plans asked for it: they are told of it without a
--                     fetch.
--   also              Hash: fingerprint -> a line `PLAN JSON` for each further plan that wants the seed; absent where
--                     the first one is the only one.
--   wanted:PLAN       Set: the fingerprints of all seeds that the plan wants and that are not finished for it.
--   cancelled:PLAN    Hash: fingerprint -> as in `seed`, for pages that the plan wanted when it was cancelled and that
--                     are others' since. They are the plan's again once it asks for them, as its next edition does: a
--                     page that led to one may be finished, and leads nowhere any more. Deleted with the plan.
--   tries             Hash: fingerprint -> how often the seed was really tried; absent where it was not.
--   reasons           Hash: fingerprint -> why the seed was retried or failed last.
--   crashes           Hash: fingerprint -> a number that lib/states.lua explains; absent where no worker died while it
--                     held the seed.
--   quarantine        Sorted set: fingerprint -> when the seed is due. Quarantined seeds wait here and not in ready.
--   quarantine_owner  String: the owner who takes quarantined seeds, one at a time; expires.
--   scheduled         Set: fingerprints of scheduled seeds that were visited at least once.
--   parked            Sorted set: fingerprint -> when the seed is due. Seeds all of whose plans are paused.
--   counts            Hash: state -> number of seeds, summed over the ledgers of all plans; also `buckets`
--                     (lib/finished.lua), `refused` (settlements by an owner who no longer held the seed) and
--                     `deleted:STATE` (what forgotten plans had counted).
--   wake_pause        String: exists for a moment after a freed turn was announced.
--   unfilled          Sorted set: owner -> until when it counts as one whose last claim has given it less than it asked
--                     for (lib/shares.lua); expires.
--   lapsed            Sorted set: owner -> its session's deadline. Owners whose sessions lapsed and who may still hold
--                     something here.
--   followed:HOST     String: how many seeds were accepted there because a page links to them; expires FAIL_DAYS after
--                     the first.
-- Of both frontiers:
--   turn:HOST         Hash: a host's turns, as lib/turns.lua says.
--   turns:OWNER       Set: `TOKEN HOST` of every turn that an owner holds.
--   fence:OWNER       String: calls of this owner with this serial number or a lower one are void (recall.lua);
--                     expires.
--   sessions          Sorted set: owner -> its session's deadline. frontier/owners.py says whose an owner id is.
--   renewed           String: `TIME LENGTH_MS AHEAD_MS`, when a session was last opened or renewed by anybody, its
--                     length, and how far the partition's clock was ahead of Redis's.
--   spared            Set: owners whose deadline lib/sessions.lua has moved since they last renewed it.
--   receipts          Hash: owner -> the number of the offer that the owner has made last, as lib/receipts.lua says.
--   plan_states       Hash: plan -> `VERSION EDITION STATE`, as plan_state.lua writes it; also of plans that were
--                     deleted lately.
--   ledger:PLAN:SITE  Hash: `FRONTIER:STATE` -> number of seeds.
--   ledgers           Set: `PLAN SITE` of every ledger.
--   politeness        Hash: site -> `DELAY_MS CONCURRENCY BURST`.
--   host_orders       Hash: host -> `DELAY_MS PAUSED`, what operators want of it (order_host.lua).
--   browser_sites     Set: `FRONTIER SITE` where all pages of the site in that frontier are rendered; `FRONTIER ` while
--                     hosts of a site where they aren't any more are made everybody's (render_site.lua).
-- Of the other frontier, whose hosts take the same turns: hosts, ready:HOST, held:OWNER, wake_pause, lapsed.

local lock, hosts, ready, execute, claims, held, finish, plan_numbers, fail, seed, also, wanted, cancelled, tries,
  reasons, crashes, quarantine, quarantine_owner, scheduled, parked, counts, wake_pause, unfilled, lapsed, followed,
  turn, turns, fence, sessions, renewed, spared, receipts, plan_states, ledger, ledgers, politeness, host_orders,
  browser_sites, other_hosts, other_ready, other_held, other_wake_pause, other_lapsed = unpack(KEYS)

local frontier = string.match(lock, ':(%a+):lock$') -- 'nav' or 'content'
local other_frontier = frontier == 'nav' and 'content' or 'nav'
