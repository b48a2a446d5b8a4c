#!lua flags=allow-oom
-- Needs: keys, values, clock, finished.
--
-- Tells for which plans a page is finished, where DEDUP_MODE is `bloom` (lib/filter.lua).
--
-- ARGV: fingerprint, then plans.
-- Returns those of the plans.

local plans, fingerprints, answers = { unpack(ARGV, 2) }, {}, {}
for n in ipairs(plans) do fingerprints[n] = ARGV[1] end
for n, answer in ipairs(look_up_finished(fingerprints, plans)) do
  if answer == 'known' then answers[#answers + 1] = plans[n] end
end
return answers
