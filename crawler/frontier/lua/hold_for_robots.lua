#!lua flags=allow-oom
-- Needs: keys, values, clock, turns.
--
-- Notes how many seeds of a host a claim takes while the host's robots.txt is unreachable. They all need the answer to
-- one question, so they are held together while it is asked. Sent by whoever holds a turn of the host.
--
-- ARGV: host; number of seeds (0: as many as its sites allow).
-- Returns 1; or 0 when nothing is known of the host's turns any more.

local host_turns, seeds_text = turns_of(ARGV[1]), ARGV[2]
if host_turns.stored == 'none' then return 0 end
if seeds_text ~= '0' then
  set_field(host_turns, FIELD.robots_seeds, seeds_text)
elseif host_turns.fields[FIELD.robots_seeds] then
  delete_field(host_turns, FIELD.robots_seeds)
end
flush_turns()
return 1
