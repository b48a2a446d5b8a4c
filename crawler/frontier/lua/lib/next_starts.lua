-- What a change of a host's delay does to when its turns may start their next requests.
--
-- Gives the scripts: `move_next_starts`.

-- Moves the next starts of a host's turns by what its delay has grown since: they were a delay after their last ones.
local function move_next_starts(host_turns, delay_before)
  local more = politeness_of(host_turns) - delay_before
  if more == 0 then return end
  for name, at in pairs(host_turns.fields) do
    if string.byte(name) == FIELD.next_start_byte then set_field(host_turns, name, text(tonumber(at) + more)) end
  end
end
