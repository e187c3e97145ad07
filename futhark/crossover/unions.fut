-- | Unions of AB-cycles: an exchange that leaves subtours, and others that join these again.
--
-- Two exchanges of which each by itself leaves subtours may make one tour together, as the halves of a double bridge do. No
-- child of one AB-cycle has both, however many generations there are: "Block2" of Nagata and Kobayashi is for these.

import "edge_exchange"

-- | The most AB-cycles that are kept for unions, and the most cuts of all of them.
def most_cycles : i64 = 32
def most_kept : i64 = 320

-- | The most cuts of a cycle that is kept, and of a union.
def most_united : i32 = 80

-- | AB-cycles, each an exchange as yet without merges: how many there are; behind which of all cuts each of them ends, 0 for none
-- before the first; all cuts; and the links of their ends, which each cycle numbers from 0.
type kept_cycles = [1 + (most_cycles + 1) + most_kept + 2 * most_kept]i32

-- | Their gains before merging.
type kept_gains = [most_cycles]i64

def no_cycles () : *kept_cycles = replicate (1 + (most_cycles + 1) + most_kept + 2 * most_kept) 0

#[inline]
def count_of (cycles: kept_cycles) : i32 = cycles[0]

local
def cuts_at : i64 = 1 + (most_cycles + 1)

local
def links_at : i64 = cuts_at + most_kept

-- Behind how many cuts a cycle begins.
local
def start (cycles: kept_cycles) (c: i32) : i64 = #[unsafe] i64.i32 cycles[1 + i64.i32 c]

-- How many cuts it has.
local
def size (cycles: kept_cycles) (c: i32) : i32 = i32.i64 (start cycles (c + 1) - start cycles c)

-- | Keep an AB-cycle of m cuts where there is room. **Work:** O(m).
def keep (cycles: *kept_cycles)
         (gains: *kept_gains)
         (m: i32)
         (cuts: [most_cuts]i32)
         (link: [2 * most_cuts]i32)
         (gain: i64) : (*kept_cycles, *kept_gains) =
  #[unsafe]
  let count = count_of cycles
  let from = if count < i32.i64 most_cycles && m <= most_united then start cycles count else most_kept
  in if from + i64.i32 m > most_kept
     then (cycles, gains)
     else let cycles = loop cycles for h < i64.i32 m do cycles with [cuts_at + from + h] = cuts[h]
          let cycles = loop cycles for h < 2 * i64.i32 m do cycles with [links_at + 2 * from + h] = link[h]
          let cycles = cycles with [2 + i64.i32 count] = i32.i64 from + m
          let cycles = cycles with [0] = count + 1
          let gains = gains with [i64.i32 count] = gain
          in (cycles, gains)

-- The cuts and links of a cycle, behind m cuts; there must be room. **Work:** O(m) for m cuts of the cycle.
local
def append (cycles: kept_cycles)
           (m: i32)
           (cuts: *[most_cuts]i32)
           (link: *[2 * most_cuts]i32)
           (c: i32) : (*[most_cuts]i32, *[2 * most_cuts]i32) =
  #[unsafe]
  let from = start cycles c
  let more = i64.i32 (size cycles c)
  let at = i64.i32 m
  let cuts = loop cuts for h < more do cuts with [at + h] = cycles[cuts_at + from + h]
  let link = loop link for h < 2 * more do link with [2 * at + h] = cycles[links_at + 2 * from + h] + 2 * m
  in (cuts, link)

-- | An exchange before merging, its gain, and a bit for each AB-cycle that belongs to it.
type union = {m: i32, cuts: [most_cuts]i32, link: [2 * most_cuts]i32, gain: i64, members: u32}

-- | A union around a cycle that leaves subtours: while there are several, the cycle with which there are fewest joins it, if these
-- are fewer than before and the gain stays positive; of equal ones the one with the largest gain, then the first.
--
-- **Work:** O(c s) times that of counting subtours, for c cycles, of which s join.
def union_around (n: i32) (cycles: kept_cycles) (gains: kept_gains) (center: i32) : *union =
  #[unsafe]
  let gain_of (c: i32) = gains[i64.i32 c]
  let bit (c: i32): u32 = 1 << u32.i32 c
  let m = size cycles center
  let (cuts, link) = append cycles 0 (replicate most_cuts 0) (replicate (2 * most_cuts) 0) center
  let count = count_subtours n {m, cuts, link}
  let (m, cuts, link, gain, members, _, _) =
    loop (m, cuts, link, gain, members, count, grows) = (m, cuts, link, gain_of center, bit center, count, true)
    while grows && count > 1 do
      -- Each is tried behind the cuts of those that belong to it, and overwritten by the next one.
      let (cuts, link, fewest, next) =
        loop (cuts, link, fewest, next) = (cuts, link, count, -1)
        for c < count_of cycles do
          if members & bit c != 0 || gain + gain_of c <= 0 || m + size cycles c > most_united
          then (cuts, link, fewest, next)
          else let (cuts, link) = append cycles m cuts link c
               let left = count_subtours n {m = m + size cycles c, cuts, link}
               let better = left < fewest || left == fewest && next >= 0 && gain_of c > gain_of (i32.max 0 next)
               in (cuts, link, if better then left else fewest, if better then c else next)
      in if next < 0
         then (m, cuts, link, gain, members, count, false)
         else let (cuts, link) = append cycles m cuts link next
              in (m + size cycles next, cuts, link, gain + gain_of next, members | bit next, fewest, true)
  in {m, cuts, link, gain, members}
