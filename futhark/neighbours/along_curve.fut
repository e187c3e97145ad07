-- | Cities of the plane in order along Hilbert's curve.

import "../core/instances"
import "../flat/rows"

-- | Return the place of a cell along the curve through a grid of 2^bits cells a side. **Work:** O(bits).
def hilbert (bits: i32) (x: u32) (y: u32) : u64 =
  let last = (1u32 << u32.i32 bits) - 1
  let (_, _, place) =
    loop (x, y, place) = (x, y, 0u64)
    for b < bits do
      let half = 1u32 << u32.i32 (bits - 1 - b)
      let (right, up) = (u64.bool (x & half != 0), u64.bool (y & half != 0))
      let place = place + u64.u32 half * u64.u32 half * ((3 * right) ^ up)
      let turns = up == 0 && right == 1
      let (x, y) = if turns then (last - x, last - y) else (x, y)
      in if up == 0 then (y, x, place) else (x, y, place)
  in place

-- | Cells along an axis, as a power of two.
def cell_bits : i32 = 20

-- | Return the least and largest x and y. One reduction: several race. **Work:** O(n). **Span:** O(log n).
def bounds_of_all [n] (xs: [n]f64) (ys: [n]f64) : (f64, f64, f64, f64) =
  let wider (a, b, c, d) (e, f, g, h) = (f64.min a e, f64.max b f, f64.min c g, f64.max d h)
  in reduce_comm wider (f64.inf, -f64.inf, f64.inf, -f64.inf) (zip4 xs xs ys ys)

-- | Return places along the curve through the square around all. **Work:** O(n). **Span:** O(log n).
def places_along [n] (xs: [n]f64) (ys: [n]f64) : [n]u64 =
  let (left, right, low, high) = bounds_of_all xs ys
  let side = f64.max (right - left) (high - low)
  let cells = f64.i64 (1 << i64.i32 cell_bits)
  let cell (z: f64) = u32.f64 (f64.min (z / side * cells) (cells - 1))
  in map2 (\x y -> if side > 0 then hilbert cell_bits (cell (x - left)) (cell (y - low)) else 0) xs ys

-- | Return the cities in order of places, then numbers, and these places. **Work:** O(n). **Span:** O(log n).
def along_curve [n] (xs: [n]f64) (ys: [n]f64) : ([n]i32, [n]i64) =
  let fits = assert (fits_32_bits n) (i32.i64 n)
  let places = kept_apart (places_along xs ys)
  -- The lower half of a place's bits, then the upper one.
  let sorted (shift: i32) (cities: [n]i32) =
    let half (c: i32) = u32.u64 ((get places c >> u64.i32 shift) & ((1 << u64.i32 cell_bits) - 1))
    in sort_rows cell_bits [0] [fits] (replicate n 0) (map half cities) cities
  let cities = sorted cell_bits (sorted 0 (map i32.i64 (iota n)))
  in (cities, map (\c -> i64.u64 (get places c)) cities)
