-- How long a call may go on: until it ends, Redis serves nobody else.
--
-- Gives the scripts: `has_time`.
--
-- A script that works off a list asks before each entry and leaves the rest to another call. Every list is bounded by
-- number, too: an old server tells scripts no time that passes (Valkey does from 8.0 on, Redis from 7.4).
--
-- What a claim costs: a few ms as a rule. Where much is to be looked at or taken back, it takes some 20 ms:
-- CALL_SECONDS, and 5 ms for what it writes at its end. On a server without a clock the bounds in claim.lua end it
-- after some 40 ms.

local has_time
do
  -- The processor's time after which a call begins no further entry of its list.
  local CALL_SECONDS = 0.015
  -- How many entries pass between two looks at the clock: a look costs 0.6 us, an entry some 20.
  local LOOK_EVERY = 8

  local has_clock, clock = pcall(function() return os.clock end)
  local begun, asked, is_over = has_clock and clock(), 0, false

  -- Returns whether the call has time for one more entry of its list; it has for the first ones, so that it gets on.
  function has_time()
    asked = asked + 1
    if has_clock and asked % LOOK_EVERY == 0 and clock() - begun >= CALL_SECONDS then is_over = true end
    return not is_over
  end
end
