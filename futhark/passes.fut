-- | Local search of one huge tour: in a pass every city that waits looks for its best move, and of the moves that do not
-- overlap many are made at once.
--
-- A pass costs what the waiting cities and the stretches of the moves made cost, not the whole tour. What is in the way of a
-- move are moves inside its stretch; so first those go that are inside a window of the tour, one a window, windows growing
-- from pass to pass; and where few are left, the larger gain goes first among those that overlap.

import "metric"
import "rng"
import "route"
import "three_opt"

-- | A huge tour in the course of its descent: the tour and the place of each city; the cities that wait; the windows' size, as a
-- power of two; how many moves and passes were made; and whether no city finds a move.
type huge [n] =
  {tour: [n]i32, places: [n]i32, waits: [n]bool, level: i64, moves: i64, passes: i64, done: bool}

-- | The position of each city. **Work:** O(n).
def places_of [n] (tour: [n]i32) : *[n]i32 =
  #[unsafe] scatter (replicate n 0) (map i64.i32 tour) (map i32.i64 (iota n))

-- | The smallest windows, as a power of two, and how many moves are few.
def least_level : i64 = 6
def few : i64 = 1024

-- | A descent from a tour, in which all cities wait, or those of another one.
def huge_of [n] (tour: [n]i32) (waits: [n]bool) : huge [n] =
  {tour, places = places_of tour, waits, level = least_level, moves = 0, passes = 0, done = false}

-- | A stretch of positions that is turned round; none where the first lies behind the last.
type turn = (i32, i32)

-- | Where a position comes from when a stretch is turned round. **Work:** O(1).
#[inline]
def turned ((first, last): turn) (p: i32) : i32 = if p >= first && p <= last then first + last - p else p

-- | A move as up to three stretches that are turned round one after another, none past the end of the tour.
type turns = {a: turn, b: turn, c: turn}

def no_turn : turn = (i32.highest, -1)

-- | How a move, made by exchanges of two edges as `three_opt.make` does, turns stretches round. **Work:** O(1).
def turns_of [n] (places: [n]i32) ({gain = _, kind, t1, t2, t3, t4, t5, t6}: move) : turns =
  #[unsafe]
  let last = i32.i64 n - 1
  let place (x: i32) = places[i64.i32 x]
  -- The stretch between the edges (p, q) and (r, s).
  let between (is: bool) (p: i32) (q: i32) (r: i32) (s: i32): turn =
    let leaves x y = if i32.max x y - i32.min x y == 1 then i32.min x y else last
    let (e, f) = (leaves p q, leaves r s)
    in if is then (i32.min e f + 1, i32.max e f) else no_turn
  let of (is: bool) at p q r s = between is (at p) (at q) (at r) (at s)
  let a =
    if kind <= 2
    then of (kind > 0) place t1 t2 t3 t4
    else if kind == 3 then of true place t1 t2 t4 t3 else of true place t1 t2 t5 t6
  let then_a x = turned a (place x)
  let b =
    if kind <= 2
    then of (kind == 2) then_a t1 t4 t5 t6
    else if kind == 3 then of true then_a t1 t3 t5 t6 else of true then_a t5 t2 t3 t4
  let then_b x = turned b (then_a x)
  in {a, b, c = of (kind == 3) then_b t4 t2 t3 t5}

-- | The positions that a move changes; the edges that it exchanges leave these and the one before. **Work:** O(1).
def stretch ({a, b, c}: turns) : turn =
  (i32.min a.0 (i32.min b.0 c.0), i32.max a.1 (i32.max b.1 c.1))

-- | For each of some stretches whether it is the first by its key, which are all different, among those whose edges leave
-- positions of the same window.
--
-- **Work:** O(d + windows).
def first_of_windows [d] (n: i64) (level: i64) (shift: u64) (stretches: [d]turn) (keys: [d]i64) : ([d]bool, i64) =
  let size = i64.min n (1 << level)
  let off = i64.u64 (shift % u64.i64 size)
  let windows = (n + off + size - 1) / size
  let of (p: i32) = (i64.i32 p + off) / size
  let slots = map (\(first, last) -> if last >= 0 && of (first - 1) == of last then of last else -1) stretches
  let bests = hist i64.max (-1) windows slots keys
  in (map2 (\slot key -> slot >= 0 && #[unsafe] bests[slot] == key) slots keys, windows)

-- | For each of some stretches whether it goes before all that overlap it or share an edge with it: the larger key, which are
-- all different, goes first. **Work:** O(d^2).
def first_of_overlapping [d] (stretches: [d]turn) (keys: [d]i64) : [d]bool =
  let before x y = #[unsafe] keys[x] > keys[y]
  let overlap x y = #[unsafe] stretches[x].0 - 1 <= stretches[y].1 && stretches[y].0 - 1 <= stretches[x].1
  let wins x =
    #[unsafe]
    stretches[x].1 >= 0
    && (loop free = true
        for y < d do
          free && (x == y || stretches[y].1 < 0 || !(overlap x y) || before x y))
  in map wins (iota d)

-- | The positions of all of some stretches, each with the number of its own. **Work:** O(d + positions).
def spread [d] (stretches: [d]turn) : [](i64, i32) =
  let lengths = map (\(first, last) -> i64.i32 (i32.max 0 (last - first + 1))) stretches
  let ends = scan (+) 0 lengths
  let total = if d == 0 then 0 else #[unsafe] ends[d - 1]
  let begins = map2 (-) ends lengths
  let heads = hist i64.max 0 total (map2 (\b l -> if l > 0 then b else -1) begins lengths) (iota d)
  let owners = scan i64.max 0 heads
  in map2 (\i t -> #[unsafe] (i, stretches[i].0 + i32.i64 (t - begins[i]))) owners (iota total)

module mk_passes (M: metric) = {
  module T = mk_three_opt M

  -- | The length of the tour. **Work:** O(n).
  def length_of [n] (data: M.data [n]) (s: huge [n]) : i64 =
    i64.sum (map (\p -> #[unsafe] T.between data s.tour[p] s.tour[if p + 1 == n then 0 else p + 1]) (iota n))

  -- | One pass: the cities that wait after it, the level, and how many moves were made. The cities are all different, and so
  -- are those that come back; `marks` is i32.highest everywhere.
  --
  -- **Work:** O(d k^2) for d cities that wait, and the stretches of the moves made. **Span:** O(k^2).
  def pass [n] [k] [d]
           (data: M.data [n])
           (links: links [n] [k])
           (shift: u64)
           (level: i64)
           (cities: [d]i32)
           (tour: *[n]i32)
           (places: *[n]i32)
           (marks: *[n]i32) : (*[n]i32, *[n]i32, *[n]i32, []i32, i64, i64) =
    let choice = {segment = i32.i64 n, best = true, draws = 0}
    let r: route [n] = tour ++ places
    let found =
      #[incremental_flattening(only_inner)]
      map (\c -> T.move_of data links choice r c) cities
    let (cities, moves) = unzip (filter (\(_, move: move) -> move.kind > 0) (zip cities found))
    let turns = map (turns_of places) moves
    let stretches = map stretch turns
    -- A gain is less than 3 * 2^30, a city less than 2^31.
    let keys = map2 (\c (m: move) -> (m.gain << 31) | i64.i32 c) cities moves
    let are_few = length moves <= few
    let (by_windows, windows) = first_of_windows n level shift stretches keys
    let m = if are_few then length moves else 0
    let by_stretch = first_of_overlapping (take m stretches) (take m keys)
    let wins = map (\i -> #[unsafe] if are_few then by_stretch[i] else by_windows[i]) (indices moves)
    let made = filter (\i -> #[unsafe] wins[i]) (indices moves)
    let changes = spread (map (\i -> #[unsafe] stretches[i]) made)
    let new =
      map (\(i, p) ->
             #[unsafe]
             let {a, b, c} = turns[made[i]]
             in tour[i64.i32 (turned a (turned b (turned c p)))])
          changes
    let ps = map (\(_, p) -> i64.i32 p) changes
    let tour = scatter tour ps new
    let places = scatter places (map i64.i32 new) (map i32.i64 ps)
    -- Who could not make its move waits on, and so do the ends of those made, each once.
    let rest = filter (\i -> #[unsafe] !wins[i]) (indices moves)
    let woken = flatten (map (\i -> #[unsafe] tabulate 6 (\e -> if i32.i64 e < ends moves[i] then end moves[i] (i32.i64 e) else -1)) made)
    let waiting = filter (>= 0) (map (\i -> #[unsafe] cities[i]) rest ++ woken)
    let numbers = map i32.i64 (indices waiting)
    let cells = map i64.i32 waiting
    let marks = reduce_by_index marks i32.min i32.highest cells numbers
    let once = map (.0) (filter (\(c, i) -> #[unsafe] marks[i64.i32 c] == i) (zip waiting numbers))
    let marks = scatter marks cells (map (const i32.highest) cells)
    let top = 1 << level >= n
    let next = if length made * 16 < windows && !are_few then level + 1 else level
    in (tour, places, marks, once, if top then least_level else next, length made)

  -- | So many passes at most. Where no city that waits finds a move, all wait once more: a stretch that was turned round may let
  -- others do what they could not. The descent is done when none of all cities finds one. **Work:** see `pass`.
  def descend [n] [k] (data: M.data [n]) (links: links [n] [k]) (seed: u64) (limit: i64) (s: huge [n]) : huge [n] =
    let marks: *[n]i32 = replicate n i32.highest
    let cities = map i32.i64 (filter (\c -> #[unsafe] s.waits[c]) (iota n))
    let (tour, places, _, cities, level, moves, passes, done) =
      loop (tour, places, marks, cities, level, moves, passes, done) =
             (copy s.tour, copy s.places, marks, cities, s.level, s.moves, s.passes, s.done)
      while !done && passes < s.passes + limit do
        let shift = rng.word (rng.stream seed passes) 0
        let full = length cities == n
        let (tour, places, marks, cities, level, made) = pass data links shift level cities tour places marks
        let none = length cities == 0
        let cities = if none && !full then map i32.i64 (iota n) else cities
        in (tour, places, marks, cities, level, moves + made, passes + 1, none && full)
    let waits = scatter (replicate n false) (map i64.i32 cities) (map (const true) cities)
    in {tour, places, waits, level, moves, passes, done}
}
