-- Numbers, the time, and commands over many values.
--
-- Gives the scripts: `call`, `tonumber`, `text`, `now_s`, `now`, `now_text`, `UNPACK_MAX`, `call_with_all`, `hash_values`,
-- `increment`, `append_to`.

local call = redis.call

-- Reads a number; what is none counts as 0. What lies in Redis isn't trusted: junk there must stop no script.
local NUMBER_MAX = 2 ^ 53 -- beyond that, Lua's numbers lose digits
local parsed = tonumber
local function tonumber(value)
  local number = parsed(value)
  if number and number <= NUMBER_MAX and number >= -NUMBER_MAX then return number end
  if not number or number ~= number then return 0 end
  return number > 0 and NUMBER_MAX or -NUMBER_MAX
end

-- Writes a whole number as Redis wants it. Faster than leaving it to Redis, which takes every number for a fraction.
local function text(whole) return string.format('%d', whole) end

-- Redis's clock is the only one: workers' clocks may be wrong.
local time = call('TIME')
local now_s = tonumber(time[1])
local now = now_s * 1000 + math.floor(tonumber(time[2]) / 1000) -- ms
local now_text = text(now)

local UNPACK_MAX = 4000 -- values in one command: Lua's unpack ends near 8,000

-- Runs COMMAND KEY VALUES..., in as many calls as unpack needs; none at all without values.
local function call_with_all(command, key, values)
  for from = 1, #values, UNPACK_MAX do
    call(command, key, unpack(values, from, math.min(from + UNPACK_MAX - 1, #values)))
  end
end

-- Returns a hash's values of some fields, in their order; false where a field is missing.
local function hash_values(key, fields)
  if #fields <= UNPACK_MAX then return #fields > 0 and call('HMGET', key, unpack(fields)) or {} end
  local all = {}
  for from = 1, #fields, UNPACK_MAX do
    local part = call('HMGET', key, unpack(fields, from, math.min(from + UNPACK_MAX - 1, #fields)))
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

-- Appends a value to the list of that name among lists that are made as they are needed.
local function append_to(lists, name, value)
  local list = lists[name]
  if not list then list = {}; lists[name] = list end
  list[#list + 1] = value
end
