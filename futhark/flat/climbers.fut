-- | Climbers of one instance (`population.fut` of the local search) before and after steps of the flattened crossover.

import "../core/positions"
import "../local_search/population"

local module flat = import "apply"

type climbers [p] [n] = population [p] [n]

-- | Return climbers on measured tours, with their numbers of steps. **Work:** O(p).
def climbers_on [p] [n] ({tours, places = _, lengths}: flat.population [p] [n] [p]) (steps: [p]i64) : population [p] [n] =
  {tours, bests = tours, lengths, steps}

-- | Return the best tours of climbers with their positions. **Work:** O(p n).
def measured_of [p] [n] ({tours = _, bests, lengths, steps = _}: population [p] [n]) : flat.population [p] [n] [p] =
  {tours = bests, places = map positions bests, lengths}

-- | Return climbers after a generation; those that changed have made a step. **Work:** O(p).
def after [p] [n] (before: population [p] [n]) ((made, changed): (flat.population [p] [n] [p], [p]bool)) : population [p] [n] =
  climbers_on made (map2 (\steps f -> steps + i64.bool f) before.steps changed)
