-- | The program of the cuda and opencl backends for random restarts by the neighbourhoods of Utne and Hansen (2023).

import "../core/tour"
import "../two_opt/gpu_climbs"
import "../two_opt/gpu_neighbourhoods"
import "../two_opt/pairs"
import "../two_opt/restarts"
