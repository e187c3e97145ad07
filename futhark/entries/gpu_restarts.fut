-- | The program of the cuda and opencl backends for random restarts and one large tour. A climber has a thread block of its
-- own (`…_climb_block`) or a thread (`…_climb_thread`).

import "../core/tour"
import "../two_opt/descent"
import "../two_opt/gpu_climbs"
import "../two_opt/gpu_descents"
import "../two_opt/restarts"
import "../two_opt/screen"
