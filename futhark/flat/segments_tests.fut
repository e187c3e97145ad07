-- Rows behind each other: what is true, ends and starts, the row of an element, and the sort of all rows.

import "../core/rng"
import "rows"

-- ==
-- entry: counts
-- input { [true, false, true, true] } output { [1, 1, 2, 3] [0, 2, 3] }
-- input { [false] } output { [0] empty([0]i32) }
-- input { empty([0]bool) } output { empty([0]i32) empty([0]i32) }
entry counts [m] (is: [m]bool) : ([]i32, []i32) = count_true is

-- ==
-- entry: places
-- input { [false, true, true] } output { [1, 2] }
entry places [m] (is: [m]bool) : []i32 = where_true is

-- The ends and starts of rows of these sizes, and how many elements they have.
-- ==
-- entry: rows
-- input { [2, 0, 3] } output { [2i64, 2i64, 5i64] [0, 2, 2] 5i64 }
-- input { empty([0]i32) } output { empty([0]i64) empty([0]i32) 0i64 }
entry rows [c] (sizes: [c]i32) : ([]i64, []i32, i64) =
  let ends = ends_of sizes
  in (ends, starts_of sizes ends, total_of ends)

-- An empty row has no element.
-- ==
-- entry: row
-- input { [2, 0, 3] } output { [0, 0, 2, 2, 2] }
-- input { [0, 0, 1, 0] } output { [2] }
entry row [c] (sizes: [c]i32) : []i32 =
  let ends = ends_of sizes
  in map (row_of ends) (iota (total_of ends))

-- ==
-- entry: powers
-- input { [0i64, 1i64, 2i64, 4i64, 5i64, 16i64, 17i64] } output { [0i64, 0i64, 1i64, 1i64, 2i64, 2i64, 3i64] }
entry powers [m] (xs: [m]i64) : [m]i64 = map log4_up xs

-- The bounds that 32 bits set.
-- ==
-- entry: bounds
-- input { [-1i64, 0i64, 1073741823i64, 1073741824i64] } output { [false, true, true, false] }
entry bounds [m] (xs: [m]i64) : [m]bool = map can_be_numbered xs

-- ==
-- entry: too_many
-- input { 1073741824i64 } error: can_be_numbered
entry too_many (m: i64) : i64 = numbered m

-- Rows of 3, 0, 4 and 1 elements: each is sorted by itself, and equal keys keep their order.
-- ==
-- entry: sorted
-- input { [9u32, 2u32, 9u32, 7u32, 0u32, 7u32, 4095u32, 5u32] } output { [1, 0, 2, 4, 3, 5, 6, 7] }
entry sorted (keys: [8]u32) : [8]i32 =
  let sizes = [3, 0, 4, 1]
  in sort_rows 12 (starts_of sizes (ends_of sizes)) sizes [0, 0, 0, 2, 2, 2, 2, 3] keys (map i32.i64 (iota 8))

-- Random rows come in order.
-- ==
-- entry: sorts_hold
-- input { 1i64 0i64 } output { true }
-- input { 7i64 40i64 } output { true }
-- input { 300i64 5i64 } output { true }
entry sorts_hold (c: i64) (most: i64) : bool =
  let sizes = tabulate c (\r -> rng.below (rng.stream 1 r) 0 (i32.i64 most + 1))
  let ends = ends_of sizes
  let m = total_of ends
  let row = map (row_of ends) (iota m)
  let keys = tabulate m (\x -> u32.i32 (rng.below (rng.stream 2 x) 0 50))
  let sorted = sort_rows 6 (starts_of sizes ends) sizes row keys (map i32.i64 (iota m))
  let before x y = row[x] < row[y] || (row[x] == row[y] && (keys[x] < keys[y] || (keys[x] == keys[y] && x < y)))
  in all (\x -> before (i64.i32 sorted[x]) (i64.i32 sorted[x + 1])) (iota (m - 1 |> i64.max 0))
     && and (map2 (\x y -> row[i64.i32 x] == row[y]) sorted (iota m))
