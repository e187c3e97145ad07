-- | The greedy tour of many cities, on a CPU, the shortest edge first (Bentley, ORSA Journal on Computing 4, 1992).

-- | Paths through n cities: c is between links[2 c] and links[2 c + 1], -1 at an end; `opposite` is the other end.
type fragments [n] [m] = {links: [m]i32, opposite: [n]i32, count: i64}

-- | Each city by itself.
def lone_cities (n: i64) : ?[m].fragments [n] [m] =
  {links = replicate (2 * n) (-1i32), opposite = map i32.i64 (iota n), count = n}

local def is_end [m] (links: [m]i32) (c: i32) : bool = #[unsafe] links[2 * i64.i32 c + 1] < 0

-- An edge's key is what remains of its squared length in single precision: equal ones differ by less than 0.4 % in length.
local def keys : i64 = 1 << 15
local def key (squared: f64) : i32 = i32.u32 (f32.to_bits (f32.f64 squared) >> 16)

-- | Join fragments by listed edges between their ends, the shortest first, equals as listed. **Work, Memory:** O(m k).
def join_near [n] [d] [w] [m] [k] (points: [n][d]f64) ({links, opposite, count}: fragments [n] [w]) (cities: [m]i32) (lists: [m][k]i32) : fragments [n] [w] =
  #[unsafe]
  let key_of (e: i64): i32 =
    let (i, x) = (e / k, e % k)
    let j = i64.i32 lists[i, x]
    let (a, b) = (cities[i], cities[j])
    -- What both have in their lists counts once.
    let (is_twice, _) = loop (found, y) = (false, 0i64) while !found && y < k do (i64.i32 lists[j, y] == i, y + 1)
    let squared =
      loop sum = 0
      for axis < d do
        let gap = points[i64.i32 a, axis] - points[i64.i32 b, axis]
        in sum + gap * gap
    in if (is_twice && j < i) || opposite[i64.i32 a] == b then -1 else key squared
  let found = map key_of (iota (m * k))
  -- By counting, which keeps equal ones in their order; those that are none come first.
  let places =
    loop places: *[keys + 2]i64 = replicate (keys + 2) 0i64
    for e < m * k do
      let at = i64.i32 found[e] + 2
      in places with [at] = places[at] + 1
  let places = loop places: *[keys + 2]i64 = places for at < keys do places with [at + 2] = places[at + 2] + places[at + 1]
  let (order, places) =
    loop (order: *[m * k]i32, places: *[keys + 2]i64) = (replicate (m * k) 0i32, places)
    for e < m * k do
      let at = i64.i32 found[e] + 1
      let place = places[at]
      in (order with [place] = i32.i64 e, places with [at] = place + 1)
  let none = places[0]
  let (links, opposite, count) =
    loop (links: *[w]i32, opposite: *[n]i32, count) = (copy links, copy opposite, count)
    for o < m * k - none do
      let e = i64.i32 order[none + o]
      let (a, b) = (cities[e / k], cities[i64.i32 lists[e / k, e % k]])
      -- An array that only one branch changes would be copied: so what stands there is written again.
      let (at_a, at_b) = (2 * i64.i32 a, 2 * i64.i32 b)
      let fits = links[at_a + 1] < 0 && links[at_b + 1] < 0 && opposite[i64.i32 a] != b
      let at_a = at_a + i64.bool (links[at_a] >= 0)
      let at_b = at_b + i64.bool (links[at_b] >= 0)
      let links = links with [at_a] = if fits then b else links[at_a]
      let links = links with [at_b] = if fits then a else links[at_b]
      let (far_a, far_b) = (i64.i32 opposite[i64.i32 a], i64.i32 opposite[i64.i32 b])
      let opposite = opposite with [far_a] = if fits then i32.i64 far_b else opposite[far_a]
      let opposite = opposite with [far_b] = if fits then i32.i64 far_a else opposite[far_b]
      in (links, opposite, count - i64.bool fits)
  in {links, opposite, count}

-- | The ends of fragments, ascending.
def ends_of [n] [w] (s: fragments [n] [w]) : []i32 = filter (is_end s.links) (map i32.i64 (iota n))

-- | The cities of the one fragment that is left, from its smaller end on.
def path_of [n] [w] (s: fragments [n] [w]) : [n]i32 =
  let one = assert (s.count == 1) (loop c = 0i64 while !(is_end s.links (i32.i64 c)) do c + 1)
  let (path, _, _) =
    #[unsafe]
    loop (path: *[n]i32, before, c) = (replicate n 0i32, -1i32, i32.i64 one)
    for p < n do
      let at = 2 * i64.i32 c
      let next = if s.links[at] == before then s.links[at + 1] else s.links[at]
      in (path with [p] = c, c, next)
  in path
