-- How long a call may go on: until it ends, Redis serves nobody else.
--
-- Gives the scripts: `has_time`.
--
-- A script that works off a list asks before each entry and leaves the rest to another call. Every list is bounded by
-- number, too: an old server tells scripts no time that passes (Valkey does from 8.0 on, Redis from 7.4).

local has_time
do
  local CALL_SECONDS = 0.015 -- of the processor; what a claim writes at its end takes some 5 ms more
  local LOOK_EVERY = 8       -- entries: a look at the clock costs 0.6 us, an entry some 20

  local has_clock, clock = pcall(function() return os.clock end)
  local begun, asked, is_over = has_clock and clock(), 0, false

  -- Returns whether the call has time for one more entry of its list; it has for the first ones, so that it gets on.
  function has_time()
    asked = asked + 1
    if has_clock and asked % LOOK_EVERY == 0 and clock() - begun >= CALL_SECONDS then is_over = true end
    return not is_over
  end
end
