-- In which order a host's seeds are claimed: the scores of ready:HOST.
--
-- Gives the scripts: `order`, a table of functions, and `first_due`.
--
-- When a seed is due is one thing, what comes first among those that are due is another. A seed whose time is yet to
-- come has that time as its score, in ms. One that is due is ranked: its score is (rank - RANKS) * SPAN_MS + the time
-- since when it is due. So it is below 0, before all times; by its rank first, and within a rank by how long it has
-- waited. A lower rank is better: (9 - priority) * DEPTHS + depth, where depth is how many links were followed to it;
-- all from the last depth on count as one. A rank is found in the stored seed and nowhere else, so whoever makes a seed
-- ready again gives it its place back. All scores are whole numbers within 2^52: small sets keep those in 8 bytes.
--
-- A seed whose time comes is ranked by the next claim that looks at its host (claim.lua). That is also what becomes of
-- seeds that an earlier version has offered: all of them have times.

local order = { lower_priorities = 9 } -- how many there are below the first
do -- a script has at most 200 locals at once
  local DEPTHS, DEFAULT_PRIORITY = 50, 5 -- the latter as crawler/base/models.py:Seed has it
  local RANKS = (order.lower_priorities + 1) * DEPTHS
  local SPAN_MS = 9e12 -- beyond all times until the year 2255

  -- Returns the priority of a seed for one of its plans, its depth, and where that stands, by what `seed` or a line of
  -- `also` holds: the JSON at its end begins with `{"q":PRIORITY,"d":DEPTH,` (crawler/base/models.py), where either is
  -- left out at its default.
  local function head_of(stored)
    local at = string.find(stored, ' {"', 1, true)
    if not at or string.byte(stored, at + 3) == 117 then return DEFAULT_PRIORITY, 0 end -- u: it begins with the URL
    local priority = string.match(stored, '^"q":(%d),', at + 2)
    local depth_at = priority and at + 8 or at + 2
    local depth = string.match(stored, '^"d":(%d+),', depth_at)
    return priority and tonumber(priority) or DEFAULT_PRIORITY, tonumber(depth or '0'), depth_at
  end

  local function rank_in(stored)
    local priority, depth = head_of(stored)
    return (order.lower_priorities - priority) * DEPTHS + math.min(depth, DEPTHS - 1)
  end

  -- Returns what `seed` or a line of `also` holds, with the depth that a value has where that is smaller.
  function order.with_smaller_depth(stored, value)
    local _, before, depth_at = head_of(stored)
    local _, depth = head_of(value)
    if depth >= before then return stored end
    local rest = string.gsub(string.sub(stored, depth_at), '^"d":%d+,', '')
    return string.sub(stored, 1, depth_at - 1) .. (depth > 0 and '"d":' .. text(depth) .. ',' or '') .. rest
  end

  -- Returns the rank of a stored seed: the best that one of its plans gives it. `further`: what `also` holds of it, nil
  -- or false for nothing.
  function order.rank_of(value, further)
    local rank = rank_in(value)
    for line in string.gmatch(further or '', '[^\n]+') do rank = math.min(rank, rank_in(line)) end
    return rank
  end

  -- Returns the score of a seed that is due, and when a seed with a score is due.
  function order.score_of(rank, due) return (rank - RANKS) * SPAN_MS + due end
  function order.due_of(score) return score < 0 and score % SPAN_MS or score end

  -- Returns the rank of a seed with a score below 0, and how many priorities come before its own.
  function order.rank_at(score) return math.floor(score / SPAN_MS) + RANKS end
  function order.priorities_before(score) return math.floor(order.rank_at(score) / DEPTHS) end

  -- Returns where the scores of so many priorities end, from the first on, and those of the next one begin.
  function order.end_of_priorities(priorities) return order.score_of(priorities * DEPTHS, 0) end
end

-- Returns when the first ready seed of a host is due, in its order; nil where there is none. `ready_prefix`: `ready` or
-- `other_ready`.
local function first_due(ready_prefix, host)
  local first = call('ZRANGE', ready_prefix .. host, 0, 0, 'WITHSCORES')
  return #first > 0 and order.due_of(tonumber(first[2])) or nil
end
