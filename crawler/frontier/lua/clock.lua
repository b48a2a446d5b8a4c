#!lua flags=allow-oom
-- Returns the time by the partition's clock, in ms since the epoch.

return now
