#!/usr/bin/env bash
# Draw the pictures of README.md and docs/how-to again; the screenshot of the report needs Chromium.
set -euo pipefail
cd "$(dirname "$0")"
docs=$PWD
images=$docs/images
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
cd "$runs"

pytsp solve capitals --seed 0 --time-limit 5 --json > capitals.json
pytsp solve capitals --seed 0 --solver restarts --time-limit 5 --json > restarts.json
pytsp plot capitals.json --output "$images/tour.svg"
pytsp plot capitals.json restarts.json --output "$images/difference.svg"

pytsp solve uniform1000 --seed 0 --solver eax --time-limit 10 --json > eax.json
pytsp solve uniform1000 --seed 0 --solver ils --time-limit 10 --json > ils.json
pytsp plot eax.json ils.json --kind convergence --output "$images/convergence.svg"
pytsp plot restarts.json --kind climbers --output "$images/climbers.svg"

# The drawing of docs/how-to/plotters.md and the holes of docs/how-to/drills.md, by the pages' own commands.
bash -c "$(sed -n 's/^\$ \(awk .*\)/\1/p' "$docs/how-to/plotters.md" "$docs/how-to/drills.md")"
pytsp segments drawing.svg --start 0,0 --time-limit 2 --picture "$images/plotter.svg"
pytsp segments holes.csv --start 0,0 --closed --time-limit 2 --picture "$images/drill.svg"

pytsp report eax.json ils.json --output report.html
read -r -a chromium < <(cd "$docs/.." && python -m buildtools.chromium)
"${chromium[@]}" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1760 \
    --screenshot="$images/report.png" "file://$runs/report.html"
