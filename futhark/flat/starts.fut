-- | Tours to start from: along curves, and by fragments that join.

import "../core/metric"
import "../core/rng"
import "../local_search/route"
import "apply"
import "curve"
import "fragments"
import "segments"

-- | Settings of fragments: the most by which a hash lengthens edges, in 256ths, and the most cities of a fragment.
type joining = {noise: i32, longest: i32}

-- | The widest neighbour lists by which fragments join.
def widest : i64 = 32

def is_joining (k: i64) (by: joining) = k <= widest && by.noise >= 0 && by.noise <= 4096

module mk_starts (M: metric) = {
  -- | Return tours with their positions and lengths. **Work:** O(p n). **Span:** O(log n).
  def measured [p] [n] (data: M.data [n]) (tours: [p][n]i32) (places: [p][n]i32) : population [p] [n] =
    #[unsafe]
    let city (tour: [n]i32) (q: i64) = M.point data tour[if q == n then 0 else q]
    let edge (tour: [n]i32) (q: i64) = i64.i32 (M.dist data (city tour q) (city tour (q + 1)))
    in {tours, places, lengths = map (\tour -> i64.sum (map (edge tour) (iota n))) tours}

  -- | Return tours along curves, of which each has its own. **Work:** O(p n). **Span:** O(log (p n)).
  def curves [p] [n] (data: M.data [n]) (spots: spots [n]) (keys: [p]rng.key) : population [p] [n] =
    let many = numbered (p * n)
    let row = map (\x -> i32.i64 (x / n)) (iota many)
    let sorted = sort_along spots keys (replicate p (i32.i64 n)) row (map (\x -> i32.i64 (x % n)) (iota many))
    let at = map2 (\a c -> i64.i32 a * n + i64.i32 c) row sorted
    let places = scatter (replicate many 0i32) at (map (\x -> i32.i64 (x % n)) (iota many))
    in measured data (unflatten (sorted :> [p * n]i32)) (unflatten (places :> [p * n]i32))

  -- | Return greedy tours: fragments that pick each other join by edges of the lists, and what is left follows the curve of
  -- its tour.
  --
  -- One curve for all tours would give them the same frame of long edges, which crossover cannot mend. **Work:** O(p n k) a
  -- round and O(p n log n). **Span:** O(k) a round and O(log (p n)).
  def greedy [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (keys: [p]rng.key) (by: joining) : population [p] [n] =
    let by = assert (is_joining k by) by
    let many = numbered (p * n)
    -- By length, which a hash of tour and edge lengthens; then by the hash, then by the place in the list.
    let rank (a: i64) (u: i64) (j: i64): i64 =
      #[unsafe]
      let v = i64.i32 lists[u, j]
      let length = i64.i32 (M.dist data (M.point data (i32.i64 u)) (M.point data (i32.i64 v)))
      let hash = rng.word keys[a] (i64.min u v * n + i64.max u v)
      let long = 256 * length + (length * i64.i32 by.noise * i64.u64 (hash >> 56) >> 8)
      in (long << 15) | (i64.u64 (hash >> 40 & 0x3ff) << 5) | j
    let joined = join_all n many lists rank by.longest
    let (tour, places) = follow spots keys (joined :> fragments [p * n])
    in measured data (unflatten tour) (unflatten places)
}
