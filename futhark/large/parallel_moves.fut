-- | Local search of one huge tour: in a pass a bounded number of waiting cities look for their best moves, and many that
-- do not overlap are made: one a window, which grow from pass to pass; where few are left, the larger gains.

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/tour"
import "../flat/rows"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/tour_edits"

-- Cities that wait for a look are taken some at a time, in blocks, which bounds memory and time.

-- | The number of consecutive cities in a block.
def block : i64 = 32

-- | The number of blocks of n cities.
def blocks (n: i64) : i64 = (n + block - 1) / block

local
-- | The number of waiting cities of a block. **Work:** O(block).
def waiting_in [n] (waits: [n]bool) (b: i64) : i32 =
  let first = b * block
  in loop sum = 0i32 for j < i64.min block (n - first) do #[unsafe] sum + i32.bool waits[first + j]

local
-- | The waiting city of a block that has `behind` waiting cities before it. **Work:** O(block).
def nth_in [n] (waits: [n]bool) (b: i64) (behind: i32) : i32 =
  let (c, _) =
    loop (c, left) = (b * block - 1, behind + 1)
    while left > 0 do
      (c + 1, left - i32.bool (#[unsafe] waits[c + 1]))
  in i32.i64 c

-- | Cities that wait, whole blocks from `cursor` on, cyclically, at most `width` >= `block`; how many wait; the next
-- block. **Work:** O(n). **Memory:** O(width + n / block).
#[inline]
def next_waiting [n] (width: i64) (cursor: i64) (waits: [n]bool) : (*[]i32, i64, i64) =
  let m = blocks n
  let at i = let b = cursor + i in if b >= m then b - m else b
  let counts = map (\i -> waiting_in waits (at i)) (iota m)
  let ends = scan (+) 0 counts
  let total = #[unsafe] i64.i32 ends[m - 1]
  let taken = if total <= width then m else i64.sum (map (\end -> i64.bool (i64.i32 end <= width)) ends)
  let d = #[unsafe] i64.i32 ends[taken - 1]
  -- Where the cities of a block begin stands the block; it is handed on to the rest of them.
  let begins = map3 (\i end count -> if i < taken && count > 0 then i64.i32 (end - count) else -1) (iota m) ends counts
  let heads = scatter (replicate d 0i32) begins (map i32.i64 (iota m))
  let owners = scan i32.max 0 heads
  let city t i =
    #[unsafe]
    let begin = ends[i64.i32 i] - counts[i64.i32 i]
    in nth_in waits (at (i64.i32 i)) (i32.i64 t - begin)
  in (map2 city (iota d) owners, total, if total <= width then cursor else at taken)

-- | Let about `width` cities of blocks from `cursor` on wait, if `wanted`; how many; next block. **Work:** O(width).
#[inline]
def wake [n] (wanted: bool) (width: i64) (cursor: i64) (waits: *[n]bool) : (*[n]bool, i64, i64) =
  let first = cursor * block
  let count = if wanted then i64.min (width / block * block) (n - first) else 0
  let waits = scatter waits (tabulate count (\i -> first + i)) (replicate count true)
  in (waits, count, if first + count == n then 0 else cursor + count / block)

-- | The next block of cities; doublings of a pass's cities; cities woken since a move was found; the windows' size, as
-- a power of two; moves, passes and their cost so far; whether no city finds a move.
type progress = {cursor: i64, breadth: i64, swept: i64, level: i64, moves: i64, passes: i64, work: i64, done: bool}

-- | A huge tour on its descent: the tour, the cities that wait, and how far it has come.
type large [n] = {route: route [n], waits: [n]bool, progress: progress}

-- | The smallest windows, as a power of two, and how many moves are few.
def least_level : i64 = 6
def few : i64 = 1024

-- | The cost of a look for a city's move, in positions that change.
def look_work : i64 = 16

-- | A descent from a route in which all cities wait, after the moves and passes of `progress`. **Work:** O(n).
def wake_all [n] (route: route [n]) (progress: progress) : large [n] =
  let progress = progress with cursor = 0 with breadth = 0 with swept = n with level = least_level with done = false
  in {route, waits = replicate n true, progress}

-- | A descent from a tour, in which all cities wait.
def given_large [n] (tour: [n]i32) : large [n] =
  let tour = assert (fits_32_bits n && is_tour tour) tour
  let progress = {cursor = 0, breadth = 0, swept = n, level = least_level, moves = 0, passes = 0, work = 0, done = false}
  in wake_all (tour ++ positions tour) progress

-- | The moves, the passes, and what they cost.
def work_of [n] (s: large [n]) : [3]i64 = [s.progress.moves, s.progress.passes, s.progress.work]

-- | Neighbour lists with their distances, in order of these, as they are put down on a device.
type neighbours [n] [k] = {links: links [n] [k]}

def blank_links (n: i64) (k: i64) : neighbours [n] [k] =
  assert (fits_32_bits n && k >= 0) {links = replicate n (replicate k 0)}

-- | The tour. **Work:** O(n).
def tour_of [n] (s: large [n]) : [n]i32 = #[unsafe] map (\p -> s.route[p]) (iota n)

-- | Tell whether lists are those of cities from number `first` on, of n cities.
def are_some_lists [m] [k] (n: i64) (first: i64) (lists: [m][k]i32) =
  first >= 0 && first <= n - m && all (are_cities n) lists

-- | A stretch of positions that is reversed; none if the first lies behind the last.
type turn = (i32, i32)

-- | The position from which a position comes when a stretch is reversed. **Work:** O(1).
#[inline]
def turn_position ((first, last): turn) (p: i32) : i32 = if p >= first && p <= last then first + last - p else p

-- | A move as up to three stretches that are reversed one after another, none past the end of the tour.
type turns = {a: turn, b: turn, c: turn}

def no_turn : turn = (i32.highest, -1)

-- | The stretches that a move reverses, exchange by exchange. **Work:** O(1).
def turns_of [n] (r: route [n]) (move: move) : turns =
  -- The stretch between the edges of an exchange, by where its cities are.
  let of (number: i32) (at: i32 -> i32): turn =
    let (p, q, r, s) = exchange_of move number
    let (e, f) = (left_position (at p) (at q), left_position (at r) (at s))
    in if number < exchanges move then (i32.min e f + 1, i32.max e f) else no_turn
  let a = of 0 (position r)
  let then_a x = turn_position a (position r x)
  let b = of 1 then_a
  in {a, b, c = of 2 (\x -> turn_position b (then_a x))}

-- | The positions that a move changes; the edges that it exchanges leave these and the one before. **Work:** O(1).
def stretch ({a, b, c}: turns) : turn =
  (i32.min a.0 (i32.min b.0 c.0), i32.max a.1 (i32.max b.1 c.1))

-- | Tell which stretches are first by key among those of the same window. **Work:** O(d + windows).
def first_of_windows [d] (n: i64) (level: i64) (shift: u64) (stretches: [d]turn) (keys: [d]i64) : ([d]bool, i64) =
  let size = i64.min n (1 << level)
  let off = i64.u64 (shift % u64.i64 size)
  let windows = (n + off + size - 1) / size
  let of (p: i32) = (i64.i32 p + off) / size
  let slots = map (\(first, last) -> if last >= 0 && of (first - 1) == of last then of last else -1) stretches
  let bests = hist i64.max (-1) windows slots keys
  in (map2 (\slot key -> slot >= 0 && #[unsafe] bests[slot] == key) slots keys, windows)

-- | Tell which stretches have a larger key than all that overlap them or share an edge with them. **Work:** O(d^2).
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

-- | The number of positions of stretches, and each with its stretch's number. **Work:** O(d), and O(log d) a position.
def spread [d] (stretches: [d]turn) : (i64, i64 -> (i64, i32)) =
  let ends = ends_of (map (\(first, last) -> i32.max 0 (last - first + 1)) stretches)
  let at t =
    #[unsafe]
    let i = i64.i32 (row_of ends t)
    in (i, stretches[i].1 - i32.i64 (ends[i] - 1 - t))
  in (total_of ends, at)

-- | The route after moves that do not overlap, and changed positions; `spare` is overwritten. **Work:** O(log d) each.
#[inline]
def turn_round [n] [d] (moves: [d]turns) (r: *route [n]) (spare: *[n]i32) : (*route [n], *[n]i32, i64) =
  let (total, at_stretch) = spread (map stretch moves)
  let new t =
    #[unsafe]
    let (i, p) = at_stretch t
    let {a, b, c} = moves[i]
    in at r (turn_position a (turn_position b (turn_position c p)))
  let spare = scatter spare (iota total) (tabulate total new)
  let r = scatter r (tabulate total (\t -> i64.i32 (at_stretch t).1)) (tabulate total (\t -> #[unsafe] spare[t]))
  let cells = tabulate total (\t -> #[unsafe] n + i64.i32 spare[t])
  let r = scatter r cells (tabulate total (\t -> (at_stretch t).1))
  in (r, spare, total)

-- | The number of cities of a pass: at first and where many find moves, as those of a bad tour do, who take long; and at most.
module type widths = {
  -- | At least `block`.
  val least : i64
  val most : i64
}

-- | Most cities of a pass: enough to keep a GPU busy, and less than half a second of a core, even at first on a random tour.
module wide : widths = {
  def least = 1i64 << 14
  def most = 1i64 << 18
}

module mk_passes (M: metric) (W: widths) = {
  module T = mk_three_opt M

  -- | Put down the links of some cities, from number `first` on. **Work:** O(m k).
  def put_links [n] [k] [m] (data: M.data [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] =
    let links = T.links_from data first (assert (are_some_lists n first lists) lists)
    in {links = neighbours.links with [first:first + m] = links}

  -- | The length of the tour. **Work:** O(n).
  def length_of [n] (data: M.data [n]) (s: large [n]) : i64 =
    i64.sum (map (\p -> #[unsafe] T.between data s.route[p] s.route[cyclic_64.next n p]) (iota n))

  local def width (breadth: i64) : i64 = i64.min W.most (W.least << breadth)

  local
  -- | One pass. Where no waiting city finds a move, others are woken; the descent is done when all cities in a row find
  -- none. **Work:** O(d k^2) for d cities, the stretches of the moves made, and O(n) bytes. **Span:** O(k^2).
  def pass [n] [k]
           (data: M.data [n])
           (links: links [n] [k])
           (seed: u64)
           (r: *route [n])
           (waits: *[n]bool)
           (spare: *[n]i32)
           (progress: progress) : (*route [n], *[n]bool, *[n]i32, progress) =
    let {cursor, breadth, swept, level, moves = moves_before, passes, work, done = _} = progress
    let width = width breadth
    let (cities, total, cursor) = next_waiting width cursor waits
    let d = length cities
    let choice = {segment = i32.i64 n, best = true, draws = 0, straight = false}
    let found =
      #[incremental_flattening(only_inner)]
      map (\c -> T.move_of data links choice r c) cities
    let waits = scatter waits (map i64.i32 cities) (map (const false) cities)
    let (cities, moves) = unzip (filter (\(_, move: move) -> move.kind > 0) (zip cities found))
    let finds = length moves
    let turns = map (turns_of r) moves
    let stretches = map stretch turns
    -- A gain is less than 3 * 2^30, a city less than 2^31.
    let keys = map2 (\c (m: move) -> (m.gain << 31) | i64.i32 c) cities moves
    let are_few = finds <= few
    let shift = rng.word (rng.stream seed passes) 0
    let (by_windows, windows) = first_of_windows n level shift stretches keys
    let m = if are_few then finds else 0
    let by_stretch = first_of_overlapping (take m stretches) (take m keys)
    let wins = map (\i -> #[unsafe] if are_few then by_stretch[i] else by_windows[i]) (indices moves)
    let made = filter (\i -> #[unsafe] wins[i]) (indices moves)
    let (r, spare, changed) = turn_round (map (\i -> #[unsafe] turns[i]) made) r spare
    -- Who could not make its move waits on, and so do the ends of those made.
    let losers = map2 (\c won -> if won then -1 else i64.i32 c) cities wins
    let waits = scatter waits losers (map (const true) losers)
    let end_of i e = #[unsafe] if i32.i64 e < ends moves[i] then i64.i32 (end moves[i] (i32.i64 e)) else -1
    let woken = flatten (map (\i -> tabulate 6 (end_of i)) made)
    let waits = scatter waits woken (map (const true) woken)
    -- Windows are compared with the share of the cities that were looked at.
    let top = 1 << level >= n
    let next = if length made * 16 * total < windows * d && !are_few then level + 1 else level
    let swept = if finds == 0 then swept else 0
    let none = total == d && finds == 0
    let done = none && swept >= n
    let breadth = if 2 * d < width then breadth else if 8 * finds > 7 * d then 0 else i64.min 32 (breadth + 1)
    let (waits, count, cursor) = wake (none && !done) width cursor waits
    let progress =
      { cursor
      , breadth
      , swept = swept + count
      , level = if top then least_level else next
      , moves = moves_before + length made
      , passes = passes + 1
      , work = work + look_work * d + changed + blocks n
      , done
      }
    in (r, waits, spare, progress)

  -- | Make a limited number of passes, and none more once they cost as much as `most`. **Work:** see `pass`.
  #[noinline]
  def descend [n] [k] (data: M.data [n]) (links: links [n] [k]) (seed: u64) (limit: i64) (most: i64) (s: large [n]) : large [n] =
    let (end, enough) = (s.progress.passes + limit, s.progress.work + i64.min most (i64.highest - s.progress.work))
    let (route, waits, _, progress) =
      loop (r, waits, spare, now) = (copy s.route, copy s.waits, replicate n 0, s.progress)
      while !now.done && now.passes < end && now.work < enough do
        pass data links seed r waits spare now
    in {route, waits, progress}
}
