-- | Values that functions capture as one. The compiler makes of each variable that a function passed on captures, and of
-- each field of a record, a function around the last: a fifth of a translation was spent on fifty of them. A value whose
-- type hides sizes (`rows`, `data`) stays outside: packed, its arrays are mixed up.

type packed 't = #packed t

-- | Return a value as one variable. **Work:** O(1).
#[inline]
def pack 't (value: t) : packed t = #packed value

-- | Return the value again. **Work:** O(1).
#[inline]
def unpack 't (packed: packed t) : t = match packed case #packed value -> value
