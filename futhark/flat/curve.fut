-- | Hilbert's curve, turned and moved in another way for each tour, in whole numbers: all backends agree bit for bit.

import "../core/rng"
import "../neighbours/along_curve"
import "rows"

-- | Coordinates of n cities for a curve: whole numbers from 0 to `most_spot`.
type spots [n] = ([n]i32, [n]i32)

-- | The largest coordinate of a spot.
def most_spot : i32 = (1 << 20) - 1

-- Bits of a place along the curve, and of each coordinate on its grid.
local def curve_bits : i32 = 24
local def grid_bits : i32 = 12

-- | Half the side of the square on whose border the directions lie, and how many there are.
def reach : i64 = 256

def directions : i64 = 8 * reach

-- | Return direction d of those around a square: what (1, 0) is turned to, longer by `reach` or more. **Work:** O(1).
def direction (d: i64) : (i64, i64) =
  let (edge, t) = (d / (2 * reach), d % (2 * reach) - reach)
  in if edge == 0
     then (reach, t)
     else if edge == 1
     then (-t, reach)
     else if edge == 2 then (-reach, -t) else (t, -reach)

-- | Return the place of a spot along the curve of one stream of random numbers, which turns and moves it. **Work:** O(1).
def place_along (key: rng.key) (x: i32) (y: i32) : u32 =
  let draw (step: i64) (below: i32) = i64.i32 (rng.below key step below)
  let (c, s) = direction (draw 0 (i32.i64 directions))
  let (x, y) = (i64.i32 x, i64.i32 y)
  let side = i64.i32 most_spot + 1
  -- The turned square fits into one of this width, and that into a window from 1.05 to 2.05 times as wide.
  let width = (i64.abs c + i64.abs s) * side
  let window = width * (269 + draw 1 256) / 256
  let cell (z: i64) (least: i64) (step: i64) =
    let shift = (window - width) * draw step 65536 / 65536
    in u32.i64 (((z - least + shift) << i64.i32 grid_bits) / window)
  let least_x = (i64.min 0 c - i64.max 0 s) * side
  let least_y = (i64.min 0 c + i64.min 0 s) * side
  in u32.u64 (hilbert grid_bits (cell (c * x - s * y) least_x 2) (cell (s * x + c * y) least_y 3))

-- | Sort the cities of rows along their tours' curves, equals as they are. **Work:** O(m). **Span:** O(log m).
def sort_along [n] [p] [r] [m] (rows: rows) ((xs, ys): spots [n]) (keys: [p]rng.key) (sizes: [r]i32) (row: [m]i32) (cities: [m]i32) : [m]i32 =
  let places = kept_apart (map2 (\row c -> #[unsafe] place_along keys[tour_of rows row] (get xs c) (get ys c)) row cities)
  in sort_rows curve_bits (starts_of sizes (ends_of sizes)) sizes row places cities
