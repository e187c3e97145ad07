-- Tests of α: by how much a tree grows that must have an edge; and of the lists by it.

import "../core/rng"
import "alpha"
import "near_graph"
import "one_tree"
import "one_tree_tests"

-- ==
-- entry: alpha_is_growth
-- input { 2i64 100 10 0 1u64 } output { true }
-- input { 3i64 100 9 9 1u64 } output { true }
-- input { 4i64 100 5 5 2u64 } output { true }
-- input { 5i64 100 1000 100 3u64 } output { true }
-- input { 20i64 30 3 3 4u64 } output { true }
-- input { 20i64 10 100 3 4u64 } output { true }
-- input { 40i64 20 1000000 1000 7u64 } output { true }
entry alpha_is_growth (n: i64) (percent: i32) (most: i32) (penalty: i32) (seed: u64) : bool =
  let g = random_graph n percent most seed
  let penalties = random_penalties n penalty seed
  let plain = prim.span g penalties
  let (further, leaf, _) = further_edge g penalties plain.degrees
  let cities = cities_of g
  let found = alphas g penalties
  let is_growth i =
    let (a, b) = (cities[i], g.others[i])
    let is_this j = (cities[j] == a && g.others[j] == b) || (cities[j] == b && g.others[j] == a)
    let short = -1000000000i64
    let lengths = map (\j -> if is_this j then short else g.lengths[j]) (indices g.lengths)
    let forced = prim.span {ends = g.ends, others = g.others, lengths} penalties
    let growth = forced.total - short + g.lengths[i] - plain.total
    -- At the leaf that has two edges, the edge takes the place of the longer one.
    let cost = g.lengths[i] + penalties[i64.i32 a] + penalties[i64.i32 b]
    in found[i] == (if a == leaf || b == leaf then i64.max 0 (cost - further) else growth)
  in all is_growth (indices g.others)

-- Whether three numbers come before three others.
def is_less (a: (i64, i64, i64)) (b: (i64, i64, i64)) : bool =
  a.0 < b.0 || (a.0 == b.0 && (a.1 < b.1 || (a.1 == b.1 && a.2 < b.2)))

-- ==
-- entry: lists_are_lawful
-- input { 9i64 5 8i64 3i64 1u64 } output { true }
-- input { 9i64 1000 8i64 0i64 2u64 } output { true }
-- input { 9i64 1000 8i64 8i64 2u64 } output { true }
-- input { 30i64 10 5i64 2i64 3u64 } output { true }
-- input { 30i64 1000000 7i64 2i64 4u64 } output { true }
-- input { 2i64 10 1i64 1i64 4u64 } output { true }
entry lists_are_lawful (n: i64) (most: i32) (k: i64) (near: i64) (seed: u64) : bool =
  let g = random_graph n 100 most seed
  let penalties = random_penalties n most seed
  let alpha = alphas g penalties
  let entry_of c o = i64.i32 c * (n - 1) + i64.i32 (if o < c then o else o - 1)
  -- How many cities come before another one in a city's row, by two numbers and the place.
  let rank key c o =
    let count x = i64.bool (x != c && is_less (key c x) (key c o))
    in i64.sum (map (\x -> count (i32.i64 x)) (iota n))
  let by_length c o = (g.lengths[entry_of c o], i64.i32 o, 0)
  let is_near c o = rank by_length c o < near
  let by_alpha c o = if is_near c o then (i64.lowest, 0, i64.i32 o) else (alpha[entry_of c o], g.lengths[entry_of c o], i64.i32 o)
  let is_listed c o = is_near c o || rank by_alpha c o < k
  let is_right c list =
    all (\o -> o != c && is_listed c o) list
    && and (map (\p -> is_less (by_length c list[p]) (by_length c list[p + 1])) (iota (k - 1)))
  in and (map2 (\c list -> is_right (i32.i64 c) list) (iota n) (alpha_lists g penalties near k))
