"use strict";
// The map of the tours: to zoom by wheel, pinch and keys, to pan by dragging, to compare two.
(() => {
  const canvas = document.getElementById("map");
  if (!canvas) return;
  // Cities of a run of a tour that is culled as a whole; most lines that are drawn before tours are thinned out.
  const CHUNK = 512, MOST_LINES = 150000;
  // Pixels between cities from which on they are dots, and from which on they have names.
  const APART = 8, NAMED = 48;
  const GREY = "#c8c8c8", THIS = "#1f77b4", OTHER = "#d55e00";
  const data = JSON.parse(document.getElementById("tours").textContent);
  const status = document.getElementById("status");
  const chosen = document.getElementById("run"), compared = document.getElementById("other");

  const numbers = (text, Type) => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Type(bytes.buffer);
  };
  const xy = numbers(data.xy, Uint16Array), n = xy.length / 2;
  const orders = data.tours.map((tour) => numbers(tour.order, n > 65536 ? Uint32Array : Uint16Array));
  // An open path has no edge behind its last city.
  const ends = data.tours.map((tour) => (tour.open ? n - 1 : n));
  const period = data.period;

  const chunksOf = (order) => {
    const chunks = [];
    for (let from = 0; from < n; from += CHUNK) {
      const to = Math.min(n, from + CHUNK);
      let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
      for (let p = from; p <= to; p++) {
        const city = order[p % n], x = xy[2 * city], y = xy[2 * city + 1];
        left = Math.min(left, x); right = Math.max(right, x);
        low = Math.min(low, y); high = Math.max(high, y);
      }
      chunks.push({ from, to, left, right, low, high });
    }
    return chunks;
  };
  const chunks = orders.map(() => null);

  const edgesApart = (k, j) => {
    const order = orders[k], other = orders[j], apart = [];
    const before = new Uint32Array(n).fill(n), after = new Uint32Array(n).fill(n);
    for (let p = 0; p < ends[j]; p++) {
      before[other[(p + 1) % n]] = other[p];
      after[other[p]] = other[(p + 1) % n];
    }
    for (let p = 0; p < ends[k]; p++) {
      const a = order[p], b = order[(p + 1) % n];
      if (after[a] !== b && before[a] !== b) apart.push(a, b);
    }
    return apart;
  };

  // The view: the point of the map in the middle of the canvas, and pixels a unit of the map.
  const view = { x: 0, y: 0, scale: 1 };
  let width = 0, height = 0, whole = 1, differences = null, waiting = false;

  const fit = () => {
    whole = Math.max(1e-9, 0.94 * Math.min(width / (data.width || 1), height / (data.height || 1)));
    view.x = data.width / 2; view.y = data.height / 2; view.scale = whole;
  };
  const left = (x) => (x - view.x) * view.scale + width / 2;
  const top = (y) => height / 2 - (y - view.y) * view.scale;

  const context = canvas.getContext("2d");
  const line = (a, b) => {
    const ax = xy[2 * a], bx = xy[2 * b], ay = top(xy[2 * a + 1]), by = top(xy[2 * b + 1]);
    const around = period && Math.abs(bx - ax) > period / 2 ? Math.sign(bx - ax) * period : 0;
    context.moveTo(left(ax), ay);
    context.lineTo(left(bx - around), by);
    if (around) {
      context.moveTo(left(ax + around), ay);
      context.lineTo(left(bx), by);
    }
  };
  const visible = (chunk) =>
    left(chunk.right) >= 0 && left(chunk.left) <= width && top(chunk.low) >= 0 && top(chunk.high) <= height;

  const drawTour = (k, colour) => {
    chunks[k] ??= chunksOf(orders[k]);
    const seen = chunks[k].filter((chunk) => period || visible(chunk));
    const cities = seen.reduce((sum, chunk) => sum + chunk.to - chunk.from, 0);
    const every = Math.ceil(cities / MOST_LINES) || 1;
    context.strokeStyle = colour;
    for (const chunk of seen) {
      context.beginPath();
      const end = Math.min(chunk.to, ends[k]);
      for (let p = chunk.from; p < end; p += every) line(orders[k][p], orders[k][Math.min(p + every, end) % n]);
      context.stroke();
    }
    return { seen, cities, every };
  };
  const crossesView = (a, b) => {
    const ax = left(xy[2 * a]), bx = left(xy[2 * b]), ay = top(xy[2 * a + 1]), by = top(xy[2 * b + 1]);
    return Math.max(ax, bx) >= 0 && Math.min(ax, bx) <= width && Math.max(ay, by) >= 0 && Math.min(ay, by) <= height;
  };
  const drawEdges = (edges, colour) => {
    const seen = [];
    for (let e = 0; e < edges.length; e += 2) if (period || crossesView(edges[e], edges[e + 1])) seen.push(e);
    const every = Math.ceil(seen.length / MOST_LINES) || 1;
    context.strokeStyle = colour;
    // One path of very many lines takes far longer than the same lines in many.
    for (let from = 0; from < seen.length; from += CHUNK * every) {
      context.beginPath();
      const to = Math.min(seen.length, from + CHUNK * every);
      for (let k = from; k < to; k += every) line(edges[seen[k]], edges[seen[k] + 1]);
      context.stroke();
    }
    return every;
  };

  const drawCities = (k, seen, radius, named) => {
    context.fillStyle = "#1c2126";
    context.font = "12px system-ui, sans-serif";
    for (const chunk of seen) {
      for (let p = chunk.from; p < chunk.to; p++) {
        const x = left(xy[2 * orders[k][p]]), y = top(xy[2 * orders[k][p] + 1]);
        if (x < 0 || x > width || y < 0 || y > height) continue;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
        if (named) context.fillText(data.names[orders[k][p]], x + 5, y - 5);
      }
    }
  };

  const draw = () => {
    waiting = false;
    const k = Number(chosen.value), ratio = canvas.width / width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.lineJoin = "round";
    // How far cities are from each other, in pixels, were they spread evenly over the map, or along a line.
    const apart = Math.max(Math.sqrt(data.width * data.height / n), Math.max(data.width, data.height, 1) / n) * view.scale;
    context.lineWidth = Math.min(1.5, Math.max(0.3, apart / 6));
    const { seen, cities, every } = drawTour(k, differences ? GREY : THIS);
    let thinned = every;
    if (differences) thinned = Math.max(every, drawEdges(differences.mine, THIS), drawEdges(differences.theirs, OTHER));
    const named = data.names !== null && apart >= NAMED;
    if (apart >= APART) drawCities(k, seen, Math.min(3, apart / 8), named);
    canvas.dataset.named = String(named);
    canvas.dataset.scale = String(view.scale / whole);
    canvas.dataset.middle = `${view.x} ${view.y}`;
    canvas.dataset.lines = String(Math.ceil(cities / every));
    tell(thinned);
  };
  const tell = (thinned) => {
    const parts = [`${(view.scale / whole).toFixed(1)} times the whole`];
    if (differences) {
      parts.push(`${(differences.mine.length / 2).toLocaleString("en")} edges differ: blue in this tour, orange in the other, grey in both`);
    }
    if (thinned > 1) parts.push(`too many to draw at once: one city of ${thinned} is drawn; zoom in for all`);
    status.textContent = parts.join(" · ");
  };
  const redraw = () => {
    if (!waiting) { waiting = true; requestAnimationFrame(draw); }
  };

  const resize = () => {
    const was = whole, box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const zoom = view.scale / was, kept = { x: view.x, y: view.y }, first = width === 0;
    width = canvas.clientWidth || box.width; height = canvas.clientHeight || box.height;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    fit();
    if (!first) { view.scale = whole * zoom; view.x = kept.x; view.y = kept.y; }
    redraw();
  };
  // As far as a step of the rounded coordinates is a few pixels; further in there is nothing more to see.
  const zoomBy = (factor, px = width / 2, py = height / 2) => {
    const scale = Math.min(Math.max(4, whole), Math.max(whole / 2, view.scale * factor));
    const x = view.x + (px - width / 2) / view.scale, y = view.y - (py - height / 2) / view.scale;
    view.x = x - (px - width / 2) / scale;
    view.y = y + (py - height / 2) / scale;
    view.scale = scale;
    redraw();
  };
  const pan = (dx, dy) => {
    view.x = Math.min(data.width, Math.max(0, view.x - dx / view.scale));
    view.y = Math.min(data.height, Math.max(0, view.y + dy / view.scale));
    redraw();
  };
  const showAll = () => { fit(); redraw(); };
  const choose = () => {
    const k = Number(chosen.value), other = compared ? Number(compared.value) : -1;
    differences = other < 0 || other === k ? null
      : { mine: edgesApart(k, other), theirs: edgesApart(other, k) };
    redraw();
  };

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const was = fingers.get(event.pointerId);
    if (!was) return;
    const now = at(event);
    const still = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, now);
    if (still) {
      const distance = (point) => Math.hypot(point.x - still.x, point.y - still.y) || 1;
      zoomBy(distance(now) / distance(was), (now.x + still.x) / 2, (now.y + still.y) / 2);
    } else {
      pan(now.x - was.x, now.y - was.y);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = at(event);
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), x, y);
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => { const { x, y } = at(event); zoomBy(2, x, y); });
  const keys = {
    "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), "-": () => zoomBy(1 / 1.5), "0": showAll,
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  document.getElementById("whole").addEventListener("click", showAll);
  chosen.addEventListener("change", choose);
  compared?.addEventListener("change", choose);
  new ResizeObserver(resize).observe(canvas);
  resize();
})();
