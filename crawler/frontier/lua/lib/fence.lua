-- Calls that their owner has given up, since no answer came, may still be on their way. The fence keeps them from doing
-- anything.
--
-- Gives the scripts: `is_void`, `raise_fence`.
--
-- Each call that takes something carries a serial number; a worker's numbers only grow. The fence stands at the highest
-- one that the worker has given up, and voids calls up to there: earlier ones that are still on their way too, which
-- are then tried again.

local FENCE_MS = 3600000 -- how long a fence stands; no call is on its way for longer

-- Returns whether a call may do nothing any more. Reads `fence:OWNER`.
local function is_void(owner, serial)
  local key = fence .. owner
  if serial > tonumber(call('GET', key) or '0') then return false end
  if call('PTTL', key) > 0 then return true end
  call('DEL', key) -- none of ours, which expire: it would void all calls
  return false
end

-- Voids an owner's calls up to a serial number. Writes `fence:OWNER`.
local function raise_fence(owner, serial)
  local key = fence .. owner
  call('SET', key, text(math.max(serial, tonumber(call('GET', key) or '0'))), 'PX', FENCE_MS)
end
