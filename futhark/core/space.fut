-- | Distances of points that lie anywhere but in a matrix: of the plane and of space by several measures, of the sphere, and
-- beside them one further city, which joins the ends of an open path.

import "metric"
import "planar"

-- | How distances are measured: by which formula, and how many units the sphere's radius has.
type measure = {formula: i32, radius: f64}

def by_root : i32 = 0
def by_root_up : i32 = 1
def by_att : i32 = 2
def by_sum : i32 = 3
def by_most : i32 = 4
def by_arc : i32 = 5
def by_arc_up : i32 = 6

def is_measure ({formula, radius}: measure) = formula >= by_root && formula <= by_arc_up && radius >= 0 && radius <= 1e15

-- | The arc of a sphere of radius 1 over a chord of so much, squared: twice an arc sine, to 4 units in the last place of a
-- double. Only sums, products and roots, each rounded once, so that every processor and NumPy come to the same.
--
-- asin h = h + h t P(t), where t = h^2 is at most 1/4; above that asin h = pi/2 - 2 asin(sqrt((1 - h) / 2)). P is
-- Chebyshev's approximation of degree 12.
def arc_over (square: f64) : f64 =
  let h = f64.min 1 (0.5 * f64.sqrt square)
  let far = h > 0.5
  let t = if far then 0.5 * (1 - h) else h * h
  let u = if far then f64.sqrt t else h
  let p = 0.028757851367602328
  let p = p * t - 0.014851887071528912
  let p = p * t + 0.01740087944288715
  let p = p * t + 0.005457506718563782
  let p = p * t + 0.0103228143502052
  let p = p * t + 0.011479177415181617
  let p = p * t + 0.013971212973553311
  let p = p * t + 0.017352392720869945
  let p = p * t + 0.02237217294214989
  let p = p * t + 0.030381944138531247
  let p = p * t + 0.04464285714635543
  let p = p * t + 0.07499999999998433
  let p = p * t + 0.16666666666666669
  let half = u + u * t * p
  in if far then 3.141592653589793 - 4 * half else 2 * half

-- | The distance of points that are so far apart in each direction.
--
-- A function of its own in the generated C: inlined wherever a distance is asked for it would be a fifth of all.
#[noinline]
def measured ({formula, radius}: measure) (dx: f64) (dy: f64) (dz: f64) : i32 =
  let nint x = i32.f64 (f64.abs x + 0.5)
  in if formula <= by_att
     then let s = dx * dx + dy * dy + dz * dz
          let r = f64.sqrt (if formula == by_att then s / 10 else s)
          let t = if formula == by_root_up then i32.f64 r else nint r
          in t + i32.bool (formula != by_root && f64.i32 t < r)
     else if formula == by_sum
     then nint (f64.abs dx + f64.abs dy + f64.abs dz)
     else if formula == by_most
     then i32.max (nint dx) (i32.max (nint dy) (nint dz))
     else let r = radius * arc_over (dx * dx + dy * dy + dz * dz)
          in i32.f64 (r + (if formula == by_arc then 0.5 else 1))

-- | TSPLIB's metrics on coordinates, in the double-precision arithmetic that defines them (`by_root` EUC_2D and EUC_3D,
-- `by_root_up` CEIL_2D, `by_att` ATT, `by_sum` MAN, `by_most` MAX), and arcs between points of a sphere of radius 1: rounded,
-- or to the next whole number above (`by_arc_up`), as GEO has them.
--
-- A fourth number tells how far the further city is from each; the further city has -1 there, wherever it is.
module space : planar with data [n] = ([n]f64, [n]f64, [n]f64, [n]i32, measure) = {
  type data [n] = ([n]f64, [n]f64, [n]f64, [n]i32, measure)
  type point = {x: f64, y: f64, z: f64, away: i32, c: i32}

  def point [n] ((xs, ys, zs, aways, _): data [n]) (c: i32) : point =
    #[unsafe] {x = xs[i64.i32 c], y = ys[i64.i32 c], z = zs[i64.i32 c], away = aways[i64.i32 c], c}

  def city (p: point) = p.c

  #[inline]
  def dist [n] ((_, _, _, _, m): data [n]) (a: point) (b: point) : i32 =
    if a.c == b.c
    then 0
    else if a.away < 0 || b.away < 0
    then i32.max a.away b.away
    else measured m (a.x - b.x) (a.y - b.y) (a.z - b.z)

  #[inline]
  def may_be_below d (a: point) (b: point) (most: i64) = i64.i32 (dist d a b) < most

  def gather [n] [m] ((xs, ys, zs, aways, by): data [n]) (cities: [m]i32) : data [m] =
    let of 'a (values: [n]a): [m]a = map (\c -> #[unsafe] values[i64.i32 c]) cities
    in (of xs, of ys, of zs, of aways, by)

  def slice [n] ((xs, ys, zs, aways, by): data [n]) (first: i64) (m: i64) : data [m] =
    let of 'a (values: [n]a): [m]a = #[unsafe] values[first:first + m] :> [m]a
    in (of xs, of ys, of zs, of aways, by)
}
