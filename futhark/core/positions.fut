-- | Positions on a tour, and its length.

import "metric"
import "tour"

-- | The position of each city. **Work:** O(n).
def positions [n] (tour: [n]i32) : *[n]i32 =
  scatter (replicate n 0) (map i64.i32 tour) (map i32.i64 (iota n))

module mk_length (M: metric) = {
  -- | The length of a closed tour, city by city. **Work:** O(n). **Span:** O(n).
  def tour_length [n] (data: M.data [n]) (tour: [n]i32) : i64 =
    let between a b = i64.i32 (M.dist data (M.point data a) (M.point data b))
    in loop sum = 0i64
       for p < n do
         #[unsafe] sum + between tour[p] tour[cyclic_64.next n p]

  -- | The length of a closed tour by the points of its cities. **Work:** O(n). **Span:** O(log n).
  def line_length [n] (data: M.data [n]) (line: [n]M.point) : i64 =
    i64.sum (map (\p -> #[unsafe] i64.i32 (M.dist data line[p] line[cyclic_64.next n p])) (iota n))
}
