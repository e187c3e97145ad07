-- Tests of spanning trees: Borůvka's is Prim's, on graphs with and without equal costs, in one part and in several.

import "../core/rng"
import "near_graph"
import "one_tree"

module by_prim = mk_ascent prim
module by_boruvka = mk_ascent boruvka

-- An edge of two cities, with a probability in per cent, and a length below `most`.
def is_edge (seed: u64) (percent: i32) (a: i64) (b: i64) : bool =
  a != b && rng.below (rng.stream seed 1) (i64.min a b * 1000 + i64.max a b) 100 < percent

def random_graph (n: i64) (percent: i32) (most: i32) (seed: u64) : ?[e].near_graph [n] [e] =
  let length a b = i64.i32 (rng.below (rng.stream seed 2) (i64.min a b * 1000 + i64.max a b) most)
  let pairs = filter (\i -> is_edge seed percent (i / n) (i % n)) (iota (n * n))
  let row c = i32.i64 (i64.sum (map (\o -> i64.bool (is_edge seed percent c o)) (iota n)))
  let ends = scan (+) 0 (map row (iota n))
  in load_near_graph ends (map (\i -> i32.i64 (i % n)) pairs) (map (\i -> length (i / n) (i % n)) pairs)

def random_penalties (n: i64) (most: i32) (seed: u64) : [n]i64 =
  map (\c -> i64.i32 (rng.below (rng.stream seed 3) c (2 * most + 1) - most)) (iota n)

-- A square with a diagonal, and a city beside it: the tree is 1 + 1 + 1 + 5, and the leaf that is farthest from its second
-- neighbour is the city beside.
-- ==
-- entry: literal
-- input { } output { [15i64, 15i64] [2, 2, 2, 2, 2] 1i64 }
entry literal : ([2]i64, [5]i32, i64) =
  let ends = [3, 5, 8, 10, 12]
  let others = [1, 2, 3, 0, 2, 0, 1, 4, 0, 4, 2, 3]
  let lengths = [1i64, 2, 1, 1, 1, 2, 1, 5, 1, 7, 5, 7]
  let g = load_near_graph ends others lengths
  let (p, b) = (by_prim.one_tree g (replicate 5 0), by_boruvka.one_tree g (replicate 5 0))
  in ([p.0, b.0], p.1, b.2)

-- ==
-- entry: both_are_one
-- input { 1i64 50 10 0 1u64 } output { true }
-- input { 2i64 100 10 0 1u64 } output { true }
-- input { 3i64 100 1 0 1u64 } output { true }
-- input { 4i64 100 5 5 2u64 } output { true }
-- input { 5i64 60 5 5 3u64 } output { true }
-- input { 30i64 5 3 3 4u64 } output { true }
-- input { 30i64 100 1 0 5u64 } output { true }
-- input { 30i64 100 2 1 6u64 } output { true }
-- input { 100i64 2 1000000 1000 7u64 } output { true }
-- input { 100i64 10 1000000 1000000 8u64 } output { true }
-- input { 300i64 3 20 10 9u64 } output { true }
entry both_are_one (n: i64) (percent: i32) (most: i32) (penalty: i32) (seed: u64) : bool =
  let g = random_graph n percent most seed
  let penalties = random_penalties n penalty seed
  let (p, b) = (by_prim.one_tree g penalties, by_boruvka.one_tree g penalties)
  let steps = map (\i -> 64 * i64.i32 most / (i + 1)) (iota 20)
  let (q, c) = (by_prim.ascend g (given_ascent penalties) steps, by_boruvka.ascend g (given_ascent penalties) steps)
  in p.0 == b.0 && p.2 == b.2 && and (map2 (==) p.1 b.1)
     && q.bound == c.bound
     && and (map2 (==) q.cities c.cities)
     && q.done == c.done
