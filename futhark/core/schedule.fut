-- | Layouts of climbers on the machine: a `map`, with an attribute.

-- | A layout of independent work.
module type schedule = {
  -- | The results of a function on some values.
  val over 'a 'b [c] : (a -> b) -> [c]a -> [c]b

  -- | The results of `p` climbers on n cities; that of one that does not work may be anything.
  val each 'a : (p: i64) -> (n: i64) -> (climber: i64 -> (works: bool) -> a) -> [p]a
}

-- | As the compiler chooses.
module automatic : schedule = {
  def over f xs = map f xs

  def each p _ climber = map (\c -> climber c true) (iota p)
}

-- | One climber a thread block, whose threads work together.
module blocks : schedule = {
  def over f xs = #[incremental_flattening(only_intra)] map f xs

  def each p _ climber = #[incremental_flattening(only_intra)] map (\c -> climber c true) (iota p)
}

-- | One climber a thread.
module threads : schedule = {
  def over f xs = #[incremental_flattening(only_inner)] map f xs

  def each p _ climber = #[incremental_flattening(only_inner)] map (\c -> climber c true) (iota p)
}

-- | One climber at a time by a core's thread, which makes all of its steps: few climbers leave cores idle.
module cores : schedule = {
  def over f xs = map (\x -> #[sequential] f x) xs

  def each p _ climber = map (\c -> #[sequential] climber c true) (iota p)
}

-- | Threads started for a climber, of which one works, as far as memory allows: threads of a warp wait for each other.
def threads_a_climber (p: i64) (n: i64) : i64 = i64.max 1 (i64.min 32 (5000000 / (p * n)))

-- | One climber in a group of threads, of which the first one works.
module spread_threads : schedule = {
  def over f xs = threads.over f xs

  def each p n climber =
    let spread = threads_a_climber p n
    let all =
      #[incremental_flattening(only_inner)]
      map (\t -> climber (t / spread) (t % spread == 0)) (iota (p * spread))
    in map (\c -> #[unsafe] all[c * spread]) (iota p)
}
