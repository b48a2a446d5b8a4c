-- Numbers, and commands over many values.
--
-- Gives the scripts: `call`, `tonumber`, `text`, `write_all`, `read_all`, `increment`, `append_to`.

local call = redis.call

-- Reads a number, as Lua's own `tonumber` would; but what is no number counts as 0. What lies in Redis isn't trusted:
-- junk there must stop no script.
local tonumber = tonumber
do -- a script has at most 200 locals at once
  local parsed, MAX_NUMBER = tonumber, 2 ^ 53 -- beyond that, Lua's numbers lose digits
  function tonumber(value)
    local number = parsed(value)
    if number and number <= MAX_NUMBER and number >= -MAX_NUMBER then return number end
    if not number or number ~= number then return 0 end
    return number > 0 and MAX_NUMBER or -MAX_NUMBER
  end
end

-- Writes a whole number as Redis wants it. Faster than leaving it to Redis, which takes every number for a fraction.
local function text(whole) return string.format('%d', whole) end

local MAX_UNPACK = 4000 -- most values in one command: Lua's unpack ends near 8,000

-- Runs COMMAND KEY VALUES..., or COMMAND KEY OPTION VALUES..., in as many calls as unpack needs; none without values.
local function write_all(command, key, values, option)
  for from = 1, #values, MAX_UNPACK do
    local to = math.min(from + MAX_UNPACK - 1, #values)
    if option then
      call(command, key, option, unpack(values, from, to))
    else
      call(command, key, unpack(values, from, to))
    end
  end
end

-- Returns what HMGET or ZMSCORE says of some names, in their order; false for a name that is missing.
local function read_all(command, key, names)
  if #names <= MAX_UNPACK then return #names > 0 and call(command, key, unpack(names)) or {} end
  local all = {}
  for from = 1, #names, MAX_UNPACK do
    local part = call(command, key, unpack(names, from, math.min(from + MAX_UNPACK - 1, #names)))
    for _, value in ipairs(part) do all[#all + 1] = value end
  end
  return all
end

-- Adds to a number in a hash and returns the sum. One that is junk begins anew.
local function increment(key, field, by)
  local sum = redis.pcall('HINCRBY', key, field, by)
  if type(sum) == 'number' then return sum end
  call('HSET', key, field, by)
  return by
end

-- Appends a value to the list `lists[name]`, which is made when it is first needed.
local function append_to(lists, name, value)
  local list = lists[name]
  if not list then list = {}; lists[name] = list end
  list[#list + 1] = value
end
