-- | Distances of points of the plane, of space and of the sphere, by several measures; beside them one further city,
-- which joins the ends of an open path, and pairs of cities with a fixed edge.

import "metric"

-- | A measure: a formula, the sphere's radius, and what is added to all distances but those of pairs.
type measure = {formula: i32, radius: f64, longer: i32}

def by_root : i32 = 0
def by_root_up : i32 = 1
def by_att : i32 = 2
def by_sum : i32 = 3
def by_most : i32 = 4
def by_arc : i32 = 5
def by_arc_up : i32 = 6

def is_measure ({formula, radius, longer}: measure) = formula >= by_root && formula <= by_arc_up && radius >= 0 && radius <= 1e15 && longer >= 0

-- | The arc of a sphere of radius 1 over a chord, squared: to 4 units in the last place, and the same on every
-- processor and in NumPy.
--
-- asin h = h + h t P(t), t = h^2 <= 1/4, P Chebyshev's of degree 12; above, asin h = pi/2 - 2 asin(sqrt((1 - h) / 2)).
def arc_over (square: f64) : f64 =
  let h = 0.5 * f64.sqrt square
  let h = if h > 1 then 1 else h
  let far = h > 0.5
  let t = if far then 0.5 * (1 - h) else h * h
  let u = if far then f64.sqrt t else h
  -- By pairs of powers, which do not wait for each other (Estrin).
  let t2 = t * t
  let t4 = t2 * t2
  let t8 = t4 * t4
  let low = (0.16666666666666669 + 0.07499999999998433 * t) + (0.04464285714635543 + 0.030381944138531247 * t) * t2
  let middle = (0.02237217294214989 + 0.017352392720869945 * t) + (0.013971212973553311 + 0.011479177415181617 * t) * t2
  let high = (0.0103228143502052 + 0.005457506718563782 * t) + (0.01740087944288715 - 0.014851887071528912 * t) * t2
  let p = low + middle * t4 + (high + 0.028757851367602328 * t4) * t8
  let half = u + u * t * p
  in if far then 3.141592653589793 - 4 * half else 2 * half

-- | The distance of points with these differences; a call, since it would be a fifth of all C inlined.
#[noinline]
def measured ({formula, radius, longer}: measure) (are_tied: bool) (dx: f64) (dy: f64) (dz: f64) (away: f64) (other: f64) : i32 =
  let nint x = i32.f64 (f64.abs x + 0.5)
  in if are_tied
     then 0
     else if away < 0 || other < 0
     then longer + i32.f64 (f64.max away other)
     else if formula <= by_att
     then let s = dx * dx + dy * dy + dz * dz
          let r = f64.sqrt (if formula == by_att then s / 10 else s)
          let t = if formula == by_root_up then i32.f64 r else nint r
          in longer + t + i32.bool (formula != by_root && f64.i32 t < r)
     else if formula == by_sum
     then longer + nint (f64.abs dx + f64.abs dy + f64.abs dz)
     else if formula == by_most
     then longer + i32.max (nint dx) (i32.max (nint dy) (nint dz))
     else let r = radius * arc_over (dx * dx + dy * dy + dz * dz)
          in longer + i32.f64 (r + (if formula == by_arc then 0.5 else 1))

-- | The kind of places: in a plane, with distances that are rounded, or rounded up; or beyond it.
type kind = i32

def plane_rounded : kind = 0
def plane_rounded_up : kind = 1
def beyond_plane : kind = 2

-- | Cities by coordinates; `aways` has the further city's distances, -1 at itself; the ends of a fixed edge have equal
-- `ties`. Planes have none of these nor `zs` nor a measure.
type places [n] = {xs: [n]f64, ys: [n]f64, kind: kind, zs: [n]f64, aways: [n]f64, ties: [n]f64, by: measure}

-- | TSPLIB's metrics on coordinates in double precision, and arcs of a sphere of radius 1, rounded or to the next whole
-- number above (GEO). Distances in a plane are those of `plane`; others cost a call.
module space : planar with data [n] = places [n] = {
  type data [n] = places [n]
  type point = {x: f64, y: f64, c: i32}

  def point [n] (data: data [n]) (c: i32) : point =
    #[unsafe] {x = data.xs[i64.i32 c], y = data.ys[i64.i32 c], c}

  def city (p: point) = p.c

  -- What a plane's cities have none of is read where it is needed: what moves from city to city is a point of the plane.
  local
  #[inline]
  def beyond [n] (data: data [n]) (a: point) (b: point) : i32 =
    #[unsafe]
    let (i, j) = (i64.i32 a.c, i64.i32 b.c)
    in measured data.by (data.ties[i] == data.ties[j]) (a.x - b.x) (a.y - b.y) (data.zs[i] - data.zs[j]) data.aways[i] data.aways[j]

  -- What most places are is asked first.

  #[inline]
  def dist [n] (data: data [n]) (a: point) (b: point) : i32 =
    if data.kind == plane_rounded
    then rounded (root_in_plane (a.x - b.x) (a.y - b.y))
    else if data.kind == plane_rounded_up
    then rounded_up (root_in_plane (a.x - b.x) (a.y - b.y))
    else beyond data a b

  #[inline]
  def may_be_below [n] (data: data [n]) (a: point) (b: point) (most: i64) : bool =
    if data.kind == beyond_plane
    then i64.i32 (beyond data a b) < most
    else may_root_be_below (a.x - b.x) (a.y - b.y) most

  def gather [n] [m] (data: data [n]) (cities: [m]i32) : data [m] =
    let of (values: [n]f64): [m]f64 = map (\c -> #[unsafe] values[i64.i32 c]) cities
    let xs = of data.xs
    let (zs, aways, ties) =
      if data.kind == beyond_plane then (of data.zs, of data.aways, of data.ties) else (xs, xs, xs)
    in {xs, ys = of data.ys, kind = data.kind, zs, aways, ties, by = data.by}

  def slice [n] (data: data [n]) (first: i64) (m: i64) : data [m] =
    let of (values: [n]f64): [m]f64 = #[unsafe] values[first:first + m] :> [m]f64
    let (zs, aways, ties) = (of data.zs, of data.aways, of data.ties)
    in {xs = of data.xs, ys = of data.ys, kind = data.kind, zs, aways, ties, by = data.by}
}

-- | The cities of a plane. **Work:** O(1).
#[inline]
def in_space [n] ((xs, ys, up): ([n]f64, [n]f64, f64)) : places [n] =
  let kind = if up > 0 then plane_rounded_up else plane_rounded
  in {xs, ys, kind, zs = xs, aways = xs, ties = xs, by = {formula = by_root, radius = 0, longer = 0}}

-- | Cities anywhere else. **Work:** O(n).
def beyond_planes [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) (aways: [n]i32) (ties: [n]i32) (by: measure) : places [n] =
  {xs, ys, kind = beyond_plane, zs, aways = map f64.i32 aways, ties = map f64.i32 ties, by}
