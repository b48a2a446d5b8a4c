-- The hash `receipts` proves to a worker that it may still rely on what offers have told it.
--
-- Gives the scripts: `void_receipts`.
--
-- An offer answers that a seed stays known to its plan (offer.lua), and leaves a receipt: a number that its worker
-- never uses again. A worker that remembers such seeds offers them no more, but only has them counted; and it shows the
-- receipt of its last call. What it remembers holds as long as that receipt is there:
--   - A Redis that has lost its last writes, by a restart or a failover, has lost the receipt before it has lost
--     anything that an earlier call brought.
--   - Whatever makes a seed that is known to a plan new to it, or may do so later, voids all receipts: a plan's state
--     has changed, or a plan was taken away from seeds. Seeds that failed long ago are forgotten without that; so no
--     worker may remember anything for as long as a day, the least that FAIL_DAYS can be.
-- With a session that ends or lapses its owner's receipt goes, too.

-- Has all workers offer what they remember once more. Void first, then change: a script that fails midway isn't undone,
-- and a worker that still remembered a seed which was forgotten would never offer it again.
local function void_receipts() call('DEL', receipts) end
