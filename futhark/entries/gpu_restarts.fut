-- | The GPU program for random restarts and one large tour; a climber has a thread block or a thread.

import "../core/tour"
import "../two_opt/descent"
import "../two_opt/gpu_climbs"
import "../two_opt/gpu_descents"
import "../two_opt/restarts"
import "../two_opt/screen"
