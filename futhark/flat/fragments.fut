-- | Fragments of many tours: paths that join by edges of neighbour lists, where two fragments pick each other; Bentley
-- (ORSA Journal on Computing 4, 1992) joins the best one at a time.

import "segments"

-- | Fragments of t cities of all tours: neighbours of each city, the second last, or -1; and the other end of each end.
type fragments [t] = {first: [t]i32, second: [t]i32, far: [t]i32}

-- | The most rounds in which fragments join.
def most_rounds : i32 = 60

-- | The rank of no edge.
def none : i64 = i64.highest

-- The best edge from each end of a fragment: its rank, with its place in the list in the last five bits.
local
def picks [t] [n] [k] (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) ({first = _, second, far}: fragments [t]) : [t]i64 =
  let pick (x: i64): i64 =
    #[unsafe]
    let a = x / n
    let u = x - a * n
    in loop best = none
       for j < (if second[x] < 0 then k else 0) do
         let y = a * n + i64.i32 lists[u, j]
         let fits = second[y] < 0 && i64.i32 far[x] != y
         in if fits then i64.min best (rank a u (i64.i32 lists[u, j]) | j) else best
  in map pick (iota t)

-- | The end that each end joins, -1 where there is none, by picks, the other ends `far`, and the end `at` a place of a pick. **Work:** O(t).
def mutual [t] (picks: [t]i64) (far: i64 -> i64) (at: i64 -> i64 -> i64) : [t]i32 =
  #[unsafe]
  -- The pick of a fragment, if it comes from this end.
  let choice (x: i64): i64 =
    let (mine, other) = (picks[x], picks[far x])
    let is_mine = mine != none && (mine < other || (mine == other && x <= far x))
    in if is_mine then at x (mine & 31) else -1
  let join (x: i64): i32 =
    let y = choice x
    in if y >= 0 && choice y == x then i32.i64 y else -1
  in map join (iota t)

-- Fragments after some joins, of which each fragment has one at most.
local
def join [t] ({first, second, far}: fragments [t]) (joins: [t]i32) : fragments [t] =
  -- The new ends know each other.
  let ends = map2 (\x y -> if y >= 0 then i64.i32 (get far (i32.i64 x)) else -1) (iota t) joins
  in { first = map2 (\u y -> if u < 0 then y else u) first joins
     , second = map3 (\u v y -> if u >= 0 && v < 0 then y else v) first second joins
     , far = scatter (copy far) ends (map (\y -> if y >= 0 then get far y else -1) joins)
     }

-- | Join cities of t / n tours by listed edges, the best by `rank` of a tour and two cities, with five free bits, while
-- two fragments pick each other. **Work:** O(t k) a round. **Span:** O(k) a round.
def join_all [k] (n: i64) (t: i64) (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) : fragments [t] =
  let lone: fragments [t] = {first = replicate t (-1), second = replicate t (-1), far = map i32.i64 (iota t)}
  let (fragments, _, _) =
    loop (now, go, round) = (lone, true, 0i32)
    while go && round < most_rounds do
      let picks = kept_apart (picks lists rank now)
      let far (x: i64) = #[unsafe] i64.i32 now.far[x]
      let joins = mutual picks far (\x j -> #[unsafe] x / n * n + i64.i32 lists[x % n, j])
      in (join now joins, or (map (>= 0) joins), round + 1)
  in fragments
