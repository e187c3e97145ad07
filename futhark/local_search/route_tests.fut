-- Exchanges of edges in place, on either side, and their log.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "route"
import "tour_edits"
import "worker"

module in_place = mk_edits (mk_thread_worker grid)

-- A tour after the exchange of two of its edges.
-- ==
-- entry: exchanged
-- input { [0, 1, 2, 3, 4, 5, 6, 7] 1 2 5 4 } output { [0, 1, 4, 3, 2, 5, 6, 7] }
-- input { [0, 1, 2, 3, 4, 5, 6, 7] 2 1 4 5 } output { [0, 1, 4, 3, 2, 5, 6, 7] }
-- input { [0, 1, 2, 3, 4, 5, 6, 7] 0 1 7 6 } output { [7, 1, 2, 3, 4, 5, 6, 0] }
-- input { [0, 1, 2, 3, 4, 5, 6, 7] 7 0 2 1 } output { [1, 0, 2, 3, 4, 5, 6, 7] }
-- input { [2, 0, 1] 2 0 2 1 } output { [2, 0, 1] }
entry exchanged [n] (tour: [n]i32) (a: i32) (b: i32) (c: i32) (d: i32) : [n]i32 =
  take n (in_place.exchange (route_of tour, empty_log (i64.i32 log_capacity)) (a, b, c, d)).0

def is_route [n] (r: route [n]) : bool =
  is_tour (take n r) && and (map (\c -> at r (position r (i32.i64 c)) == i32.i64 c) (iota n))

-- The exchange of the edges that leave two positions.
def cut [n] (r: route [n]) (p: i32) (q: i32) : (i32, i32, i32, i32) =
  let behind p = at r (wrap (i32.i64 n) (p + 1))
  in (at r p, behind p, behind q, at r q)

-- Exchanges keep a route, and make the tour that the reversal makes, up to its direction and beginning; the log takes them
-- back, and makes them once more.
-- ==
-- entry: exchanges_hold
-- input { 5i64 } output { true }
-- input { 8i64 } output { true }
-- input { 33i64 } output { true }
entry exchanges_hold (n: i64) : bool =
  let key = rng.stream 3 0
  let n32 = i32.i64 n
  let start = random_tour n 1 0
  let go [m] (r: *route [n]) (l: *log [m]) =
    loop (r, l, ok) = (r, l, true)
    for s < 40 do
      let p = rng.below key (2 * s) n32
      let q = rng.below key (2 * s + 1) n32
      let (i, j) = (i32.min p q, i32.max p q)
      let plain = #[unsafe] map (\p -> r[i64.i32 (reversal i j (i32.i64 p))]) (iota n)
      let (r, l) = in_place.exchange (r, l) (cut r p q)
      -- Neighbours in the one are neighbours in the other.
      let beside p =
        let x = position r plain[p]
        let y = position r plain[if p + 1 == n then 0 else p + 1]
        in i32.abs (x - y) == 1 || i32.abs (x - y) == n32 - 1
      let ok = ok && is_route r && all beside (iota n)
      in (r, l, ok)
  let (r, l, ok) = go (route_of start) (empty_log (i64.i32 log_capacity))
  let after = copy r
  let r = in_place.replay r l 0 40 true
  let back = and (map2 (==) (take n r) start) && is_route r
  let r = in_place.replay r l 0 40 false
  in ok && logged l == 40 && back && and (map2 (==) r after)

-- Positions at most n before or after the tour's, also where n is large, lie on it in one way and the other.
-- ==
-- entry: wrapped
-- input { 1i32 } output { true }
-- input { 2i32 } output { true }
-- input { 7i32 } output { true }
-- input { 1000i32 } output { true }
-- input { 1073741823i32 } output { true }
entry wrapped (n: i32) : bool =
  let near (p: i32) = tabulate 7 (\i -> p + i32.i64 i - 3)
  let far = map (\s -> rng.below (rng.stream 4 (i64.i32 n)) s n) (iota 100)
  let ps = near (-n) ++ near 0 ++ near (n - 1) ++ near (2 * (n - 1)) ++ map (\p -> p - n) far ++ map (+ n) far
  let holds p = p < -n || p > 2 * n - 1 || (wrap_together n p == wrap n p && i64.i32 (wrap n p) == i64.i32 p % i64.i32 n)
  in all holds ps
