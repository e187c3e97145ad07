-- | Shared parts of the tests of climbers: the comparison of batches.

import "restarts"

-- | Tell whether two batches have the same state.
--
-- `opaque` has the compiler make both as an entry point would, rather than fuse climbs with comparisons: what Futhark
-- 0.25.27 makes of that reads memory that has been put to another use.
#[noinline]
def equal [c] [n] (a: batch [c] [n]) (b: batch [c] [n]) : bool =
  let a = opaque a
  let b = opaque b
  in and (map2 (\x y -> and (map2 (==) x y)) a.tours b.tours)
     && and (map2 (==) a.lengths b.lengths)
     && and (map2 (==) a.steps b.steps)
     && and (map2 (==) a.passes b.passes)
     && and (map2 (==) a.done b.done)

def unlimited : i32 = i32.highest
