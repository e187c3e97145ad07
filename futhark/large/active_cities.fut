-- | The cities of a huge tour that wait for a look: some at a time, in blocks, which bounds memory and time.

-- | The number of consecutive cities in a block.
def block : i64 = 32

-- | The number of blocks of n cities.
def blocks (n: i64) : i64 = (n + block - 1) / block

local
-- | The number of waiting cities of a block. **Work:** O(block).
def waiting_in [n] (waits: [n]bool) (b: i64) : i32 =
  let first = b * block
  in loop sum = 0i32 for j < i64.min block (n - first) do #[unsafe] sum + i32.bool waits[first + j]

local
-- | The waiting city of a block that has `behind` waiting cities before it. **Work:** O(block).
def nth_in [n] (waits: [n]bool) (b: i64) (behind: i32) : i32 =
  let (c, _) =
    loop (c, left) = (b * block - 1, behind + 1)
    while left > 0 do
      (c + 1, left - i32.bool (#[unsafe] waits[c + 1]))
  in i32.i64 c

-- | Cities that wait, whole blocks from `cursor` on, cyclically, at most `width` >= `block`; how many wait; the next
-- block. **Work:** O(n). **Memory:** O(width + n / block).
#[inline]
def next_waiting [n] (width: i64) (cursor: i64) (waits: [n]bool) : (*[]i32, i64, i64) =
  let m = blocks n
  let at i = let b = cursor + i in if b >= m then b - m else b
  let counts = map (\i -> waiting_in waits (at i)) (iota m)
  let ends = scan (+) 0 counts
  let total = #[unsafe] i64.i32 ends[m - 1]
  let taken = if total <= width then m else i64.sum (map (\end -> i64.bool (i64.i32 end <= width)) ends)
  let d = #[unsafe] i64.i32 ends[taken - 1]
  -- Where the cities of a block begin stands the block; it is handed on to the rest of them.
  let begins = map3 (\i end count -> if i < taken && count > 0 then i64.i32 (end - count) else -1) (iota m) ends counts
  let heads = scatter (replicate d 0i32) begins (map i32.i64 (iota m))
  let owners = scan i32.max 0 heads
  let city t i =
    #[unsafe]
    let begin = ends[i64.i32 i] - counts[i64.i32 i]
    in nth_in waits (at (i64.i32 i)) (i32.i64 t - begin)
  in (map2 city (iota d) owners, total, if total <= width then cursor else at taken)

-- | Let about `width` cities of blocks from `cursor` on wait, if `wanted`; how many; next block. **Work:** O(width).
#[inline]
def wake [n] (wanted: bool) (width: i64) (cursor: i64) (waits: *[n]bool) : (*[n]bool, i64, i64) =
  let first = cursor * block
  let count = if wanted then i64.min (width / block * block) (n - first) else 0
  let waits = scatter waits (tabulate count (\i -> first + i)) (replicate count true)
  in (waits, count, if first + count == n then 0 else cursor + count / block)
