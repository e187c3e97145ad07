-- Tests of `nearest`: all that it passes by is farther than what it finds.

import "../core/rng"
import "nearest"

-- Cities on a lattice of `side` by `side`, or in two far heaps of it, in order of their rows; many are equally far, some in
-- one place.
def lattice (n: i64) (side: i64) (heaps: bool) : ([n]f64, [n]f64, [n]f64) =
  let at s c = f64.u64 (rng.word (rng.stream s 5) c % u64.i64 side)
  in ( map (\c -> f64.i64 (c * side / n)) (iota n)
     , map (\c -> at 7 c + (if heaps && c % 2 == 0 then 1e9 else 0)) (iota n)
     , map (\c -> if heaps then at 8 c else 0) (iota n)
     )

-- ==
-- entry: nearest_of_all
-- input { 2i64 1i64 10i64 false } output { true }
-- input { 8i64 7i64 10i64 false } output { true }
-- input { 9i64 8i64 10i64 false } output { true }
-- input { 9i64 3i64 1i64 false } output { true }
-- input { 16i64 5i64 3i64 false } output { true }
-- input { 17i64 5i64 100i64 true } output { true }
-- input { 65i64 8i64 1000i64 false } output { true }
-- input { 500i64 10i64 20i64 false } output { true }
-- input { 500i64 10i64 20i64 true } output { true }
-- input { 97i64 8i64 1000i64 false } output { true }
-- input { 145i64 8i64 1000i64 false } output { true }
-- input { 1000i64 7i64 1000000i64 false } output { true }
-- input { 1000i64 999i64 1000000i64 true } output { true }
entry nearest_of_all (n: i64) (k: i64) (side: i64) (heaps: bool) : bool =
  let (xs, ys, zs) = lattice n side heaps
  let known = build_boxes xs ys zs
  let square x = x * x
  let size c o = square (xs[c] - xs[o]) + square (ys[c] - ys[o]) + square (zs[c] - zs[o])
  let is_before c (a: i32) (b: i32) =
    let (d, e) = (size c (i64.i32 a), size c (i64.i32 b))
    in d < e || (d == e && a < b)
  let is_right c =
    let found = nearest known k c
    let in_order = and (map (\r -> r == 0 || is_before c found[r - 1] found[r]) (iota k))
    let are_others = all (\o -> o >= 0 && i64.i32 o < n && i64.i32 o != c) found
    let nearer o = o != c && is_before c (i32.i64 o) found[k - 1]
    in in_order && are_others && i64.sum (map (\o -> i64.bool (nearer o)) (iota n)) == k - 1
  in and (map is_right (iota n))
