#!lua flags=allow-oom
-- Keeps the delay that a host's robots.txt asks for: from now on the host has one turn, and starts are so far apart
-- whoever asks. Turns that are held from before are used one after the other, in the order of their numbers, until they
-- are released; each holder asks here before its next request.
--
-- ARGV: wake channel, the other frontier's; host; delay in ms (0: robots.txt asks for none); owner and token of the
--   turn that is to be used (0: none).
-- Returns {how many other turns of the host are held, ms until the turn may start a request (-1: others go first)}.

local channel, other_channel, host, delay_text, owner, token = unpack(ARGV)
local host_turns = turns_of(host)
local fields = host_turns.fields

if delay_text == '0' then
  if fields.r then
    delete_field(host_turns, 'r')
    local is_ready, other_is_ready = update_host_in_both(host_turns) -- more turns may be free now
    flush_hosts()
    if is_ready then announce_turn(channel, wake_pause) end
    if other_is_ready then announce_turn(other_channel, other_wake_pause) end
  end
  flush_turns()
  return { 0, 0 }
end

-- The turns' next starts were a delay after their last ones, by the delay that was known.
local is_news = fields.r ~= delay_text
if is_news then
  local before = politeness_of(host_turns)
  set_field(host_turns, 'r', delay_text)
  local more = politeness_of(host_turns) - before
  for name, at in pairs(fields) do
    if string.byte(name) == 110 then set_field(host_turns, name, text(tonumber(at) + more)) end -- n
  end
end

local number = math.floor(tonumber(token) % TOKENS_PER_SERIAL)
local is_held = fields['h' .. number] == owner .. ' ' .. token
local others = host_turns.held - (is_held and 1 or 0)
local goes_first = is_held
for name in pairs(fields) do
  if string.byte(name) == 104 and tonumber(string.sub(name, 2)) < number then goes_first = false end -- h
end

if is_news and others > 0 then -- who holds them may know nothing of the delay
  local message = string.format('crawl-delay %s %s', delay_text, host)
  call('PUBLISH', channel, message)
  call('PUBLISH', other_channel, message)
end
local wait = -1
if goes_first then -- a request may be under way on another turn, started as late as now
  wait = others > 0 and tonumber(delay_text) or math.max(0, last_of_next_starts(host_turns) - now)
end
flush_turns()
return { others, wait }
