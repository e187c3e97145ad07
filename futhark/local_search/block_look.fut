-- | The look of a block's lanes for the next move of a chain: that of one thread, by pairs of t3 and t5.

import "../core/metric"
import "block_worker"
import "lin_kernighan"
import "route"
import "three_opt"

-- | Neighbours of t4 that have lanes of their own; and lanes for a neighbour of t2, with t4 on either side of it.
def lanes_a_side : i64 = 8

def lanes_a_neighbour : i64 = 2 * lanes_a_side

-- | A lane's best closing move, by gain and number in one thread's order, and best open one; `i32.highest`: none.
type seen = (i64, i32, i64, i32)

def unseen : seen = (0, i32.highest, 0, i32.highest)

-- | The number of a move: by the neighbour i of t2, the side of t4, and the neighbour j of t4, or -1 where it has two edges.
def number_of (i: i32) (behind: i32) (j: i32) (kind: i32) : i32 =
  (i << 17) | (behind << 16) | ((j + 1) << 1) | i32.bool (kind == 4)

-- | The neighbour of t2 to which a move's number leads.
def neighbour_of (number: i32) : i32 = number >> 17

-- | A move by its number, which leaves or gains so much.
def found_of (gain: i64) (s: i32) (number: i32) : found =
  let behind = (number >> 16) & 1
  let j = ((number & 0xffff) >> 1) - 1
  let kind = if j < 0 then 1 else 2 + behind + (number & 1)
  in if number == i32.highest then nothing else {gain, s, kind, i = neighbour_of number, j = i32.max 0 j}

-- | The joint result of two lanes: the best closing move of the first neighbour that has any, and the best open one.
def both ((g, x, h, y): seen) ((g', x', h', y'): seen) : seen =
  let (i, i') = (neighbour_of x, neighbour_of x')
  let closes = i < i' || (i == i' && (g > g' || (g == g' && x <= x')))
  let opens = h > h' || (h == h' && y <= y')
  in (if closes then g else g', if closes then x else x', if opens then h else h', if opens then y else y')

module mk_block_look (M: metric) (G: group) : looking with data [n] = M.data [n] = {
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  def look [n] [k] (data: data [n]) (links: links [n] [k]) (r: route [n]) (chain: chain) (aim: aim) : (found, found) =
    let {straight, moves, may_open, t1, s, g0} = aim
    let lanes = G.cities * lanes_a_city
    let k32 = breadth k moves
    let d x y = T.between data x y
    let n32 = i32.i64 n
    -- As of a `view`, but without branches.
    let next p = wrap_together n32 (p + s)
    let back p = wrap_together n32 (p - s)
    let p2 = next (position r t1)
    let order p = wrap_together n32 (s * (p - p2))
    let t2 = at r p2
    -- With a move whose last edge is (t5, t6), if that did not come by the chain, and which leaves `left` before it closes.
    let with_move ((g, x, h, y): seen) (left: i64) (t5: i32) (t6: i32) (kind: i32) (o3: i32) (o5: i32) (number: i32): seen =
      let gain = left - d t6 t1
      let may_count = gain > g || (may_open && left > h)
      let counts = if may_count then is_old chain moves t5 t6 else false
      let closes = counts && gain > g
      let opens = if counts && may_open && left > h then may_leave links left t6 (turned_about n32 kind o3 o5) else false
      in (if closes then gain else g, if closes then number else x, if opens then left else h, if opens then number else y)
    let lane (t: i64): seen =
      let first = i32.i64 (t % lanes_a_side)
      let behind = i32.i64 (t / lanes_a_side % 2)
      let (found, _) =
        loop (found, i) = (unseen, i32.i64 (t / lanes_a_neighbour))
        while i < k32 && found.1 == i32.highest do
          let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
          let g1 = g0 - distance_of link
          let t3 = city_of link
          let p3 = position r t3
          let o3 = order p3
          let t4 = at r (if behind == 1 then next p3 else back p3)
          let is_move = g1 > 0 && t3 != t1 && (behind == 1 || (!straight && t4 != t2))
          let is_move = if is_move then is_old chain moves t3 t4 else false
          let g = g1 + d t3 t4
          let found =
            if is_move && behind == 0 && first == 0
            then with_move found g t3 t4 1 o3 0 (number_of i 0 (-1) 1)
            else found
          let (found, _) =
            loop (found, j) = (found, if is_move then first else k32)
            while j < k32 do
              let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
              let g2 = g - distance_of link
              in if g2 <= 0
                 then (found, k32)
                 else let t5 = city_of link
                      let p5 = position r t5
                      let o5 = order p5
                      let (found, _) =
                        loop (found, kind) = (found, 2 + behind)
                        while kind <= (if straight then 3 else 2 + 2 * behind) do
                          let t6 = at r (if is_ahead kind o3 o5 then next p5 else back p5)
                          let is_tour = reconnects kind (o5 < o3) o5 t1 t4 t5 t6
                          let found =
                            if is_tour
                            then with_move found (g2 + d t5 t6) t5 t6 kind o3 o5 (number_of i behind j kind)
                            else found
                          in (found, kind + 1)
                      in (found, j + i32.i64 lanes_a_side)
          in (found, if g1 > 0 then i + i32.i64 (lanes / lanes_a_neighbour) else k32)
      in found
    let (g, x, h, y) = reduce_comm both unseen (map lane (iota lanes))
    in (found_of g s x, found_of h s y)
}
