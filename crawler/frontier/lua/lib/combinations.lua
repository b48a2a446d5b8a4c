-- By which further combinations of its plan's words a seed was found, beside the one that it was first offered with.
--
-- Gives the scripts: `with_combinations`.
--
-- They stand in the seed's JSON, which no script parses: crawler/base/models.py writes each combination between two
-- tabs, and JSON has tabs nowhere else, since within its strings they are escaped. So they go wherever that JSON goes,
-- and end with it. A worker of a version that doesn't know them passes them by.

-- A seed has at most 50 of them, its first one counted: a page that more searches find is found by nearly any. With
-- them its value has at most 4,096 bytes and their brackets, where others have some 200.
local MAX_COMBINATIONS, MAX_GROWN_BYTES = 50, 4096

-- Returns a stored JSON with those combinations of an offered one that it lacks, as far as there is room: the same text
-- if there is none. `stored` may have other words before the JSON, whose last key is the list `c`, where it has one:
-- crawler/base/models.py appends it after all others.
local function with_combinations(stored, offered)
  for words in string.gmatch(offered, '\t([^\t]+)\t') do
    local entry = '\t' .. words .. '\t'
    if not string.find(stored, entry, 1, true) and string.sub(stored, -1) == '}' then
      local _, tabs = string.gsub(stored, '\t', '\t')
      if tabs >= 2 * MAX_COMBINATIONS or #stored + #entry > MAX_GROWN_BYTES then break end
      if string.find(stored, ',"c":[\t', 1, true) then
        stored = string.sub(stored, 1, -3) .. ',' .. entry .. ']}'
      else
        stored = string.sub(stored, 1, -2) .. ',"c":[' .. entry .. ']}'
      end
    end
  end
  return stored
end
