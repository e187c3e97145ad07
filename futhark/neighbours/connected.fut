-- | The check that neighbour lists join all cities of an instance.

import "../flat/rows"

-- | Tell of each instance whether its lists join all cities, either way: least numbers spread by lists, those that name
-- a city, and jumps. **Work:** O(n k) a round. **Span:** O(k) a round; rounds are as many as a path has bends.
def are_connected [n] [k] (rows: rows) (lists: [n][k]i32) : []bool =
  #[unsafe]
  let (least, _) =
    loop (least, go) = (map i32.i64 (iota n), true)
    while go do
      let pulled = map2 (\own list -> loop own for d in list do i32.min own least[i64.i32 d]) least lists
      let names = map i64.i32 (flatten lists)
      let pushed = reduce_by_index (copy pulled) i32.min i32.highest names (tabulate (n * k) (\x -> pulled[x / k]))
      let jumped = map (\c -> pushed[i64.i32 c]) pushed
      in (jumped, or (map2 (!=) jumped least))
  let is_apart (c: i64) (first: i32) = i32.bool ((bounds_at rows (i32.i64 c)).start != first)
  let apart = hist (+) 0i32 (instances rows) (tabulate n (\c -> i64.i32 (instance_at rows (i32.i64 c)))) (map2 is_apart (iota n) least)
  in map (== 0) apart
