-- The pages of a plan that are in flight: taken of its budget for a claim, and not booked yet as used.
--
-- Gives the scripts: `plan_budget`, `held_pages`, `plan_records`, `holder_of`, `let_go`.
--
-- These scripts run where plans are, in no partition. KEYS:
--   plan_budget  Hash: what is counted -> number: pages that were taken, in flight or used, by each bound that counts
--                pages (such as `pages`, `host HOST`); `items` and `bytes` of used ones; `began EDITION` -> in s since
--                the epoch, when the first page of an edition was asked for.
--   held_pages   Hash: fingerprint -> the claim that the page was taken for, and a line for each field of
--                `plan_budget` that counts it.
--   plan_records Hash: plan -> its record, as long as there is the plan. The two others are deleted with it.

local plan_budget, held_pages, plan_records = unpack(KEYS)

-- Returns the claim for which a page is in flight, and what is held of it; nil: it isn't.
local function holder_of(fingerprint)
  local entry = call('HGET', held_pages, fingerprint)
  if entry then return string.match(entry, '^[^\n]*'), entry end
end

-- Ends a page's flight; one that wasn't used is given back.
local function let_go(fingerprint, entry, is_used)
  call('HDEL', held_pages, fingerprint)
  if is_used then return end
  for field in string.gmatch(entry, '\n([^\n]+)') do increment(plan_budget, field, -1) end
end
