-- | α-nearness (Helsgaun 2000): how much the shortest 1-tree with an edge exceeds the shortest of all; lists by it.

import "near_graph"
import "one_tree"

-- | The most costly edge between two cities in the tree, or the highest number in different parts. **Work:** O(log n).
def most_costly_between [n] ({up, cost, edge = _, parts = _}: merges [n]) (a: i32) (b: i32) : i64 =
  #[unsafe]
  let (x, _, _) =
    loop (x, a, b) = (i64.lowest, a, b)
    while a != b do
      let (p, q) = (up[i64.i32 a], up[i64.i32 b])
      in if p < 0 || q < 0
         then (i64.highest, 0, 0)
         else (i64.max x (i64.max cost[i64.i32 a] cost[i64.i32 b]), p, q)
  in x

-- One copy serves the entry points of α and of lists by it. Unsafe code makes no checks, so they stand outside.
local
#[noinline]
def alphas_of [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : [e]i64 =
  #[unsafe]
  let joined = merge g penalties
  let cities = cities_of g
  let degrees = degrees_of g joined
  let (further, leaf, _) = further_edge g penalties degrees
  let alpha (c: i32) (i: i64): i64 =
    let other = g.others[i]
    let cost = g.lengths[i] + penalties[i64.i32 c] + penalties[i64.i32 other]
    -- The leaf that has a second edge would give up that one.
    let costliest = if c == leaf || other == leaf then further else most_costly_between joined c other
    in i64.max 0 (cost - costliest)
  in map2 alpha cities (iota e)

-- | The α of each entry under penalties, the same for both entries of an edge; 0 where the 1-tree has it. An edge and
-- its tree are in one part. **Work:** O((n + e) log n).
def alphas [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : [e]i64 = alphas_of g (lawful penalties)

local
def lists_of [n] [e] (g: near_graph [n] [e]) (alpha: [e]i64) (near: i64) (k: i64) : [n][k]i32 =
  #[unsafe]
  -- Entries in order of a key and of their places, the first `most` of them: found so far, and one behind them.
  let put (most: i64) (key: i64 -> (i64, i64)) (found: *[k + 1]i32) (size: i64) (i: i32): (*[k + 1]i32, i64) =
    let (x, y) = key (i64.i32 i)
    let is_before (j: i32) = let (z, w) = key (i64.i32 j) in x < z || (x == z && y < w)
    let (found, p) =
      loop (found: *[k + 1]i32, p) = (found, size)
      while p > 0 && is_before found[p - 1] do
        let j = found[p - 1]
        in (found with [p] = j, p - 1)
    in (found with [p] = i, i64.min most (size + 1))
  let list (c: i64): [k]i32 =
    let (start, end) = (row_start g.ends (i32.i64 c), g.ends[c])
    let by_length i = (g.lengths[i], i)
    let by_alpha i = (alpha[i], g.lengths[i])
    let (nearest, _, _) =
      loop (found: *[k + 1]i32, size, i) = (replicate (k + 1) (-1i32), 0i64, start)
      while i < end do
        let (found, size) = put near by_length found size i
        in (found, size, i + 1)
    let is_nearest (i: i32) =
      let (is_one, _) = loop (is_one, p) = (false, 0i64) while !is_one && p < near do (nearest[p] == i, p + 1)
      in is_one
    let (others, _, _) =
      loop (found: *[k + 1]i32, size, i) = (replicate (k + 1) (-1i32), 0i64, start)
      while i < end do
        let (found, size) = if near == k || is_nearest i then (found, size) else put (k - near) by_alpha found size i
        in (found, size, i + 1)
    let (all_of, _, _) =
      loop (found: *[k + 1]i32, size, p) = (replicate (k + 1) (-1i32), 0i64, 0i64)
      while p < k do
        let (found, size) = put k by_length found size (if p < near then nearest[p] else others[p - near])
        in (found, size, p + 1)
    -- Entries become their cities, in place.
    let all_of = loop all_of: *[k + 1]i32 for p < k do all_of with [p] = g.others[i64.i32 all_of[p]]
    in take k all_of
  in #[incremental_flattening(only_inner)] map list (iota n)

-- | For each city its `near` nearest ones and those of least α besides, `k` in all, by distances, then numbers. Every
-- row must have `k` entries. **Work:** that of α, and O(k e).
def alpha_lists [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) (near: i64) (k: i64) : [n][k]i32 =
  let are_long = all (\c -> i64.i32 (g.ends[c] - row_start g.ends (i32.i64 c)) >= k) (iota n)
  let is_lawful = near >= 0 && near <= k && k >= 1 && are_long
  in assert is_lawful (lists_of g (alphas g penalties) near k)
