-- | Several values as one variable, for functions that are passed to `map` and capture many. The compiler makes one more
-- function for each variable and each field of a record that these capture, and fifty take it seconds. Values whose type
-- hides sizes (`rows`, `data`) must not be packed: then c and multicore compute wrongly.

type packed 't = #packed t

-- | Return a value as one variable. **Work:** O(1).
#[inline]
def pack 't (value: t) : packed t = #packed value

-- | Return the value again. **Work:** O(1).
#[inline]
def unpack 't (packed: packed t) : t = match packed case #packed value -> value
