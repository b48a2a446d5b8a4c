-- How many of a host's turns an owner takes while others want seeds, too: no more than an equal share of them.
--
-- Gives the scripts: `turns_to_take`, `note_unfilled`. What both need stands in a block of its own, since Lua allows a
-- script no more than 200 local names at its top.
--
-- Without that, whoever came first would hold all turns of a host, and take each again when it is free, since it is the
-- first to know. Who else wants seeds stands in `unfilled`: an owner whose claim gave it less than it asked for, until
-- its next claim gives it all, or for UNFILLED_MS. So nothing is kept for those who have enough, or have gone. That
-- turns were left is announced (lib/hosts.lua), for the others may be asleep.

local turns_to_take, note_unfilled

do
  local UNFILLED_MS = 5000 -- an owner who still wants seeds hears of a turn that was left within some 1.2 s
  local known -- how many other owners want seeds, once it was asked

  -- Returns how many other owners want seeds. Reads `sessions`; reads `unfilled`, and removes from it who is late.
  local function others_unfilled(owner)
    if not known then
      known = 0
      if call('ZCARD', sessions) > 1 then
        write_all('ZREM', unfilled, call('ZRANGE', unfilled, '-inf', now_text, 'BYSCORE'))
        known = call('ZCARD', unfilled) - (call('ZSCORE', unfilled, owner) and 1 or 0)
      end
    end
    return known
  end

  -- Returns the numbers of a host's free turns that an owner may take, when there are free ones (as `free_turns`), and
  -- whether some are left to others.
  function turns_to_take(host_turns, concurrency, owner)
    local free, free_at = free_turns(host_turns, concurrency)
    if concurrency == 1 or #free == 0 then return free, free_at, false end
    local others = others_unfilled(owner)
    if others == 0 then return free, free_at, false end
    local most, beginning = math.ceil(concurrency / (others + 1)), owner .. ' '
    for name, value in pairs(host_turns.fields) do
      if string.byte(name) == FIELD.holder_byte and string.sub(value, 1, #beginning) == beginning then
        most = most - 1
      end
    end
    local leaves_some = #free > math.max(0, most)
    while #free > math.max(0, most) do free[#free] = nil end
    return free, free_at, leaves_some
  end

  -- Notes whether a claim gave its owner less than it asked for. Writes `unfilled`; nothing, while there is nobody to
  -- share with.
  function note_unfilled(owner, is_unfilled)
    if call('ZCARD', sessions) < 2 then return end
    if is_unfilled then
      call('ZADD', unfilled, text(now + UNFILLED_MS), owner)
      call('PEXPIRE', unfilled, UNFILLED_MS)
    else
      call('ZREM', unfilled, owner)
    end
  end
end
