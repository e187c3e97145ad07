-- | Instances on a device in four forms, and checks of sizes that all programs share: `matrix` (any metric), `grid` (EUC_2D of
-- small whole coordinates), `plane` (EUC_2D and CEIL_2D of any coordinates), and `space` (other metrics on coordinates).

import "metric"
import "space"

type matrix_instance [n] = {matrix: [n][n]i32}
type grid_instance [n] = {grid: ([n]i32, [n]i32)}
type plane_instance [n] = {plane: ([n]f64, [n]f64, f64)}
type matrices_instance [n] [w] = {firsts: [n]i64, matrices: [w]i32}
type space_instance [n] = {space: places [n]}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1
def are_cities [m] (n: i64) (cities: [m]i32) : bool = all (\c -> c >= 0 && i64.i32 c < n) cities

def load_matrix [n] (distances: [n][n]i32) : matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances}

def load_grid [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] =
  assert (fits_32_bits n) {grid = (xs, ys)}

-- | A grid as points of the plane, whose distances are equal. **Work:** O(n).
def plane_of_grid [n] ({grid = (xs, ys)}: grid_instance [n]) : plane.data [n] =
  (map f64.i32 xs, map f64.i32 ys, 0)

def load_plane [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] =
  assert (fits_32_bits n) {plane = (xs, ys, f64.bool up)}

def load_space [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) (aways: [n]i32) (ties: [n]i32) (formula: i32) (radius: f64) (longer: i32) : space_instance [n] =
  let by = {formula, radius, longer}
  in assert (fits_32_bits n && is_measure by) {space = beyond_planes xs ys zs aways ties by}

-- | Matrices that stand one behind another, row behind row: the distance of cities c and d is behind firsts[c] + d others.
def load_matrices [n] [w] (firsts: [n]i64) (distances: [w]i32) : matrices_instance [n] [w] =
  assert (fits_32_bits n) {firsts, matrices = distances}
