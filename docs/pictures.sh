#!/usr/bin/env bash
# Draw the pictures of README.md and docs/how-to. `docs/pictures.sh PYTHON` draws what git does not keep, as the site's
# build does; `docs/pictures.sh PYTHON kept` also draws the two that it keeps. The screenshot needs Chromium.
set -euo pipefail
python=$(command -v "${1:-python}")
kept=${2:-}
cd "$(dirname "$0")"
how_to=$PWD/how-to
images=$PWD/images
export PYTHONPATH=${PWD%/docs}${PYTHONPATH:+:$PYTHONPATH}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
cd "$runs"

"$python" -m pytsp solve capitals --seed 0 --json > capitals.json
"$python" -m pytsp solve capitals --seed 0 --solver restarts --climbers 500 --json > restarts.json
"$python" -m pytsp solve uniform1000 --seed 0 --solver eax --time-limit 5 --json > eax.json
"$python" -m pytsp solve uniform1000 --seed 0 --solver ils --time-limit 5 --json > ils.json
"$python" -m pytsp plot capitals.json restarts.json --output "$images/difference.svg"
"$python" -m pytsp plot eax.json ils.json --kind convergence --output "$images/convergence.svg"
"$python" -m pytsp plot restarts.json --kind climbers --output "$images/climbers.svg"

# The drawing of docs/how-to/plotters.md and the holes of docs/how-to/drills.md, by the pages' own commands.
bash -c "$(sed -n 's/^\$ \(awk .*\)/\1/p' "$how_to/plotters.md" "$how_to/drills.md")"
"$python" -m pytsp segments drawing.svg --start 0,0 --time-limit 2 --picture "$images/plotter.svg"
"$python" -m pytsp segments holes.csv --start 0,0 --closed --time-limit 2 --picture "$images/drill.svg"
[ "$kept" = kept ] || exit 0

"$python" -m pytsp plot capitals.json --output "$images/tour.svg"
"$python" -m pytsp report eax.json ils.json --output report.html
read -r -a chromium < <(cd "$images/../.." && "$python" -m buildtools.chromium)
"${chromium[@]}" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1760 \
    --screenshot="$runs/report.png" "file://$runs/report.html"
# 64 colours take a third of the bytes.
reduce='from PIL import Image; Image.open("report.png").convert("RGB").quantize(64, dither=0).save("small.png")'
"$python" -c "$reduce"
mv small.png "$images/report.png"
