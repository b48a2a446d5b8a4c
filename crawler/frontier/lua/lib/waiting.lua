-- Who asks for a turn of a host in vain: claim.lua leaves the next free one to whoever has waited longest.
--
-- Gives the scripts: `SEEDLESS`, `waits_since`, `note_waiting`.

local SEEDLESS = 'seedless' -- stands for who asks for a turn for a request that no seed stands for
local WAIT_MS = 60000 -- how long one who asked in vain is waited for: by then it has asked again, or has gone

-- Returns since when somebody ('nav', 'content' or SEEDLESS) has waited for a turn of the host; nil where they don't,
-- and for whoever acquired the last one.
local function waits_since(host_turns, who)
  local since = tonumber(host_turns.fields[FIELD.waits_since .. who] or '0')
  return host_turns.fields[FIELD.last_asker] ~= who and now - since < WAIT_MS and since or nil
end

-- Notes that somebody asks for a turn in vain.
local function note_waiting(host_turns, who)
  if host_turns.fields[FIELD.last_asker] == who or waits_since(host_turns, who) then return end
  set_field(host_turns, FIELD.waits_since .. who, now_text)
end
