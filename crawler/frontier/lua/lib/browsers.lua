-- Which hosts only workers with a browser can crawl: those of whose sites every page must be rendered.
--
-- Gives the scripts: `FOR_BROWSERS`, `needs_browser`.
--
-- In `hosts` such a host's score is its time and FOR_BROWSERS, as soon as a worker without a browser has looked at it.
-- Whoever has none then never comes by it, however many there are; whoever has one looks there, too. What places a host
-- anew, such as a turn that was freed, needn't know of it: the next look moves it again.

local FOR_BROWSERS = 1e14 -- what is added to a time in ms: it lies beyond all times until the year 5138

local rendered = {} -- site -> whether all of its pages of this frontier are rendered

-- Returns whether every page of some sites, separated by commas, must be rendered; of no site at all, none must.
local function needs_browser(sites)
  local any = false
  for site in string.gmatch(sites or '', '[^,]+') do
    if rendered[site] == nil then rendered[site] = call('SISMEMBER', browser_sites, frontier .. ' ' .. site) == 1 end
    if not rendered[site] then return false end
    any = true
  end
  return any
end
