-- | What the tests of the climbers have in common: random cities, and batches compared.

import "restarts"
import "rng"

-- | Cities on a square grid of side `bound`.
def random_grid (n: i64) (bound: i32) : ([n]i32, [n]i32) =
  let k = rng.stream 9 0
  in (tabulate n (\c -> rng.below k c bound), tabulate n (\c -> rng.below k (c + n) bound))

-- | The matrix of their taxicab distances.
def taxicab [n] (xs: [n]i32, ys: [n]i32) : [n][n]i32 =
  tabulate_2d n n (\a b -> i32.abs (xs[a] - xs[b]) + i32.abs (ys[a] - ys[b]))

-- | Whether two batches stand at the same places.
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
