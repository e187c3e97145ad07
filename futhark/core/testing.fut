-- | Shared parts of tests: random cities.

import "metric"
import "rng"

-- | Cities on a square grid of side `bound`.
def random_grid (n: i64) (bound: i32) : ([n]i32, [n]i32) =
  let k = rng.stream 9 0
  in (tabulate n (\c -> rng.below k c bound), tabulate n (\c -> rng.below k (c + n) bound))

-- | The matrix of their taxicab distances.
def taxicab [n] (xs: [n]i32, ys: [n]i32) : [n][n]i32 =
  tabulate_2d n n (\a b -> i32.abs (xs[a] - xs[b]) + i32.abs (ys[a] - ys[b]))

-- | Metrics of the plane whose rows of points are cut.
module planar_grid : planar with data [n] = grid.data [n] = {
  open grid

  def gather [n] [m] ((xs, ys): data [n]) (cities: [m]i32) : data [m] =
    #[unsafe] (map (\c -> xs[i64.i32 c]) cities, map (\c -> ys[i64.i32 c]) cities)

  def slice [n] ((xs, ys): data [n]) (first: i64) (m: i64) : data [m] =
    #[unsafe] (xs[first:first + m] :> [m]i32, ys[first:first + m] :> [m]i32)
}

module planar_plane : planar with data [n] = plane.data [n] = {
  open plane

  def gather [n] [m] ((xs, ys, up): data [n]) (cities: [m]i32) : data [m] =
    #[unsafe] (map (\c -> xs[i64.i32 c]) cities, map (\c -> ys[i64.i32 c]) cities, up)

  def slice [n] ((xs, ys, up): data [n]) (first: i64) (m: i64) : data [m] =
    #[unsafe] (xs[first:first + m] :> [m]f64, ys[first:first + m] :> [m]f64, up)
}
