#!lua flags=allow-oom
-- Needs: keys, values, clock, budget, finished.
--
-- Forgets which seeds were finished for a deleted plan, whose ledger forget.lua has forgotten: search pages, which are
-- of one edition of their plan, so that none is ever asked for again; and content pages that led to others. What those
-- led to may be undelivered, so that a plan of the same name that is submitted later has to come by there again.
--
-- ARGV: plan; the first bucket that it looks at.
-- Returns {how many seeds it forgot, the bucket that another call begins with; 0: there are no more}.

local plan, bucket, forgotten = ARGV[1], tonumber(ARGV[2]), 0
while bucket < number_of_buckets() and has_time() do
  forgotten = forgotten + drop_finished(plan, bucket)
  bucket = bucket + 1
end
return { forgotten, bucket < number_of_buckets() and bucket or 0 }
