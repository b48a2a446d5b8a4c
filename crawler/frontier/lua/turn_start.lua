#!lua flags=allow-oom
-- Needs: keys, values, clock, turns, next_starts, order, hosts.
--
-- Says when a turn that is held may start its next request, by its host's politeness as it is now: a site's may have
-- changed, or robots.txt asks for a Crawl-delay, with which the host has one turn from now on. Where more turns are
-- held than the host has by now, those with the lowest numbers are used first, until they are released. Each holder
-- asks here before its next request.
--
-- ARGV: wake channel, the other frontier's; host; delay in ms that its robots.txt asks for ('': that isn't news, '0':
--   it asks for none); owner and token of the turn that is to be used (0: none).
-- Returns {how many other turns are held beyond those that may be used beside this one, ms until the turn may start a
--   request (-1: others go first), the host's delay in ms}.

local channel, other_channel, host, delay_text, owner, token = unpack(ARGV)
local host_turns = turns_of(host)
local fields = host_turns.fields

if delay_text == '0' then
  if fields[FIELD.robots_delay] then
    delete_field(host_turns, FIELD.robots_delay)
    local is_ready, other_is_ready = update_host_in_both(host_turns) -- more turns may be free now
    flush_hosts()
    if is_ready then announce_turn(channel, wake_pause) end
    if other_is_ready then announce_turn(other_channel, other_wake_pause) end
  end
  flush_turns()
  return { 0, 0, 0 }
end

local is_news = delay_text ~= '' and fields[FIELD.robots_delay] ~= delay_text
if is_news then
  local before = politeness_of(host_turns)
  set_field(host_turns, FIELD.robots_delay, delay_text)
  move_next_starts(host_turns, before)
end

local number = math.floor(tonumber(token) % TOKENS_PER_SERIAL)
local is_held = fields[FIELD.holder .. number] == owner .. ' ' .. token
local delay, concurrency = politeness_of(host_turns)
local others, before_this = host_turns.held - (is_held and 1 or 0), 0
local surplus = math.max(0, others + 1 - concurrency)
for name in pairs(fields) do
  if string.byte(name) == FIELD.holder_byte and tonumber(string.sub(name, 2)) < number then
    before_this = before_this + 1
  end
end

if is_news and others > 0 then -- who holds them may know nothing of the delay
  local message = string.format('crawl-delay %s %s', delay_text, host)
  call('PUBLISH', channel, message)
  call('PUBLISH', other_channel, message)
end
local wait = -1
if is_held and before_this < concurrency then
  wait = 0 -- its holder knows when it has started its last request
  if surplus > 0 then -- a request may be under way on another turn, started as late as now
    wait = delay
  elseif concurrency == 1 then
    wait = math.max(0, last_of_next_starts(host_turns) - now)
  end
end
flush_turns()
return { surplus, wait, delay }
