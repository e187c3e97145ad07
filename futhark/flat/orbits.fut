-- | Orbits of permutations and lists that end, by pointer jumping: all of them at once, whatever their lengths.

import "rows"

-- | Return the least number of each orbit of a permutation, or of 4^rounds numbers from each on, by four steps a round,
-- for fewer kernels. **Work:** O(m rounds). **Span:** O(rounds).
def least_of_orbits [m] (rounds: i64) (next: [m]i32) : [m]i32 =
  let (least, _) =
    loop (least: [m]i32, jump: [m]i32) = (map i32.i64 (iota m), next)
    for _r < rounds do
      let step (l0: i32) (j1: i32) =
        let l1 = get least j1
        let j2 = get jump j1
        let l2 = get least j2
        let j3 = get jump j2
        let l3 = get least j3
        in (i32.min (i32.min l0 l1) (i32.min l2 l3), get jump j3)
      in unzip (map2 step least jump)
  in least

-- | Return the sum of weights from each element to the end of its list, and whether it has one within 4^rounds steps;
-- `next` is -1 behind the last. **Work:** O(m rounds). **Span:** O(rounds).
def sums_to_end [m] (rounds: i64) (weights: [m]i32) (next: [m]i32) : ([m]i32, [m]bool) =
  let (sums, jump) =
    loop (sums: [m]i32, jump: [m]i32) = (weights, next)
    for _r < rounds do
      let hop (sum: i32, j: i32) = if j < 0 then (sum, j) else (sum + get sums j, get jump j)
      in unzip (map2 (\sum j -> hop (hop (hop (sum, j)))) sums jump)
  in (sums, map (< 0) jump)
