-- | Kicks: double bridges in one region of the tour (Martin, Otto, Felten 1991). A B C D becomes A D C B, with four new edges.

import "../core/metric"
import "../core/rng"
import "route"
import "three_opt"

-- | Four positions, in the tour's order from some position on; the edges that leave them go. None, if not `made`.
type cuts = {made: bool, p0: i32, p1: i32, p2: i32, p3: i32}

-- | Kicks by near cuts (0), random walks (1), either (2), or cuts anywhere (3); and how far apart near cuts are.
type kicks = {kind: i32, apart: i32}

-- | The largest kind.
def most_kicks : i32 = 3

-- | Random words of an iteration; the last three: the kick's kind, a stream's seed, acceptance.
def words : i64 = 64

-- | The random word number `s` of an iteration: behind those that random tours are made of.
def word_of (iteration: i64) (s: i64) : i64 = (1 << 32) + iteration * words + s

-- | Cuts that are 1, …, `apart` cities apart, from a random position on. **Work:** O(1).
def near_cuts (n: i64) (apart: i32) (key: rng.key) (iteration: i64) : cuts =
  let n32 = i32.i64 n
  let most = i32.max 1 (i32.min apart ((n32 - 2) / 3))
  let step s = 1 + rng.below key (word_of iteration s) most
  let p0 = rng.below key (word_of iteration 0) n32
  let p1 = wrap n32 (p0 + step 1)
  let p2 = wrap n32 (p1 + step 2)
  in {made = true, p0, p1, p2, p3 = wrap n32 (p2 + step 3)}

-- | Cuts at four positions, in their order. None where two meet.
def cuts_at (p0: i32) (p1: i32) (p2: i32) (p3: i32) : cuts =
  let sorted x y = (i32.min x y, i32.max x y)
  let (p0, p1) = sorted p0 p1
  let (p2, p3) = sorted p2 p3
  let (p0, p2) = sorted p0 p2
  let (p1, p3) = sorted p1 p3
  let (p1, p2) = sorted p1 p2
  in {made = p0 < p1 && p1 < p2 && p2 < p3, p0, p1, p2, p3}

-- | Cuts at a city and the ends of three walks of ten steps (Applegate, Cook, Rohe 2003), unless two meet.
def walked_cuts [n] [k] (links: links [n] [k]) (r: route [n]) (key: rng.key) (iteration: i64) : cuts =
  let steps = 10i64
  let narrow = i32.min 5 (i32.i64 k)
  let step c s = #[unsafe] i32.i64 (links[i64.i32 c, i64.i32 (rng.below key (word_of iteration s) narrow)] & 0xffffffff)
  let start = rng.below key (word_of iteration 0) (i32.i64 n)
  let walk w = position r (loop c = start for s < (if k > 0 then steps else 0) do step c (1 + w * steps + s))
  in cuts_at (position r start) (walk 0) (walk 1) (walk 2)

-- | The cuts of a kick. **Work:** O(1).
def cuts_of [n] [k] ({kind, apart}: kicks) (links: links [n] [k]) (r: route [n]) (key: rng.key) (iteration: i64) : cuts =
  let walks = if kind == 2 then rng.below key (word_of iteration (words - 3)) 2 == 1 else kind == 1
  in if walks then walked_cuts links r key iteration else near_cuts n (if kind == 3 then i32.i64 n else apart) key iteration

-- | The eight cities at the cuts, in the tour's order.
type bridge = {a: i32, b0: i32, b1: i32, c0: i32, c1: i32, d0: i32, d1: i32, e: i32}

def bridge_at [n] (r: route [n]) ({made = _, p0, p1, p2, p3}: cuts) : bridge =
  let behind p = at r (wrap (i32.i64 n) (p + 1))
  in { a = at r p0
     , b0 = behind p0
     , b1 = at r p1
     , c0 = behind p1
     , c1 = at r p2
     , d0 = behind p2
     , d1 = at r p3
     , e = behind p3
     }

-- | One of them: 0 for a, …, 7 for e.
def pier (x: bridge) (i: i32) : i32 =
  if i < 4
  then (if i < 2 then (if i == 0 then x.a else x.b0) else (if i == 2 then x.b1 else x.c0))
  else (if i < 6 then (if i == 4 then x.c1 else x.d0) else (if i == 6 then x.d1 else x.e))

module mk_kick (M: metric) = {
  module T = mk_three_opt M

  -- | The cuts of a kick; one at an edge of length 0 moves to the next edge, so that the cities of a directed way stay
  -- together. None where two meet. **Work:** O(1).
  def cuts [n] [k] (data: M.data [n]) (kicks: kicks) (links: links [n] [k]) (r: route [n]) (key: rng.key) (iteration: i64) : cuts =
    let {made, p0, p1, p2, p3} = cuts_of kicks links r key iteration
    let moved p = let q = wrap (i32.i64 n) (p + 1) in if T.between data (at r p) (at r q) == 0 then q else p
    let (p0, p1, p2, p3) = (moved p0, moved p1, moved p2, moved p3)
    in {made = made && p0 != p1 && p1 != p2 && p2 != p3 && p3 != p0, p0, p1, p2, p3}

  -- | The length by which a double bridge makes the tour longer.
  def cost [n] (data: M.data [n]) ({a, b0, b1, c0, c1, d0, d1, e}: bridge) : i64 =
    let d x y = T.between data x y
    in d a d0 + d d1 c0 + d c1 b0 + d b1 e - d a b0 - d b1 c0 - d c1 d0 - d d1 e
}
