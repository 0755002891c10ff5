"use strict"; const GRID = 10000, $ = (id) => document.getElementById(id);
const make = (kind, text, more) => Object.assign(document.createElement(kind), { textContent: text ?? "" }, more);
async function unpacked() {
  const bytes = Uint8Array.from(atob($("packed").textContent), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
unpacked().then((data) => {
  const canvas = $("map"), ink = canvas.getContext("2d"), total = data.names.length;
  const top = Math.max(...data.y), known = data.also.length;
  const own = new Set(Array.from({ length: data.own }, (_, i) => known - data.own + i));
  const asked = new Map(data.asked.map((each) => [each.point, each.text]));
  const texts = data.names.map((name, i) => `${name} ${data.also[i] ?? ""}`.toLowerCase());
  const view = { x: 0, y: 0, scale: 1 }, hidden = new Set();
  let legend = data.legends[0], matched = null, picked = -1, hovered = -1, wide = 1, high = 1, waiting = 0;

  const sx = (i) => (data.x[i] - view.x) * view.scale, sy = (i) => (top - data.y[i] - view.y) * view.scale;
  const shown = (i) => !hidden.has(legend.codes[i]) && (!matched || matched.has(i));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const fitting = () => 0.92 * Math.min(wide / GRID, high / top);

  function center(x, y, scale) { view.scale = scale; shift(x - wide / 2 / scale - view.x, y - high / 2 / scale - view.y); }
  function showAll() { center(GRID / 2, top / 2, fitting()); }
  function shift(x, y) { view.x += x; view.y += y; later(); }
  function zoom(by, px = wide / 2, py = high / 2) {
    if (!by) return showAll();
    const next = Math.min(Math.max(view.scale * by, fitting() / 2), fitting() * 300);
    shift(px / view.scale - px / next, py / view.scale - py / next);
    view.scale = next;
  }
  function later() { waiting ||= requestAnimationFrame(draw); }

  function draw() {
    waiting = 0;
    ink.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ink.clearRect(0, 0, wide, high);
    const size = Math.min(1.6 * Math.sqrt(view.scale / fitting()), 6) * (matched ? 1.5 : 1);
    const paths = legend.entries.map(() => new Path2D()), faint = new Path2D(), inView = [];
    for (let i = 0; i < total; i++) {
      const x = sx(i), y = sy(i);
      if (x < -9 || y < -9 || x > wide + 9 || y > high + 9) continue;
      const path = shown(i) ? paths[legend.codes[i]] : faint, r = path === faint ? size / 2 : size;
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 7);
      if (path !== faint) inView.push(i);
    }
    const fill = (path, fillStyle, globalAlpha) => Object.assign(ink, { fillStyle, globalAlpha }).fill(path);
    fill(faint, colour("quiet"), 0.5);
    paths.forEach((path, code) => {
      const chosen = legend.entries[code][1];
      fill(path, chosen === "ink" ? colour("ink") : chosen, 0.85);
    });
    ink.globalAlpha = 1;
    const boxes = [];
    for (const i of own) ring(i, 5, colour("ink"));
    for (const [i, text] of asked) {
      ring(i, 8, colour("mark"));
      write(text, sx(i), sy(i) - 18, boxes, "bold 14px system-ui, sans-serif", colour("mark"), 18);
    }
    for (const i of [hovered, picked]) if (i >= 0) ring(i, 7, colour("ink"));
    const name = (i) => asked.has(i) || write(data.names[i], sx(i), sy(i) + 13, boxes, "11px system-ui, sans-serif", colour("quiet"));
    if (matched) inView.slice(0, 150).forEach(name);
    for (const [text, x, y, count] of data.labels) {
      const px = (x - view.x) * view.scale, py = (top - y - view.y) * view.scale - (count < 5 ? 11 : 0);
      const font = `${Math.min(11 + Math.sqrt(count) / 3, 17)}px system-ui, sans-serif`;
      if (px > 0 && py > 0 && px < wide && py < high) write(text, px, py, boxes, font, colour("ink"));
    }
    if (inView.length < 150) inView.forEach(name);
    if (document.activeElement === canvas && canvas.matches(":focus-visible")) ring(-1, 4, colour("mark"));
  }
  function ring(i, size, stroke) {
    const path = new Path2D();
    path.arc(i < 0 ? wide / 2 : sx(i), i < 0 ? high / 2 : sy(i), size, 0, 7);
    Object.assign(ink, { lineWidth: 2.5, strokeStyle: stroke }).stroke(path);
  }
  function write(text, x, y, boxes, font, fill, always = 0) {  // or so far below, where it would collide
    ink.font = font;
    const half = ink.measureText(text).width / 2 + 3, px = Math.min(Math.max(x, half), wide - half);
    const collides = () => boxes.some((b) => px - half < b[2] && b[0] < px + half && y - 9 < b[3] && b[1] < y + 9);
    if (collides() && !always) return;
    if (collides()) y += 2 * always;
    boxes.push([px - half, y - 9, px + half, y + 9]);
    Object.assign(ink, { textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4, fillStyle: fill });
    Object.assign(ink, { strokeStyle: colour("paper") }).strokeText(text, px, y);
    ink.fillText(text, px, y);
  }

  function nearest(px, py, within, count = 1) {
    const found = [];
    for (let i = 0; i < total; i++) {
      const far = Math.hypot(sx(i) - px, sy(i) - py);
      if (far < within && shown(i)) found.push([far, i]);
    }
    return found.sort((a, b) => a[0] - b[0]).slice(0, count).map((each) => each[1]);
  }
  function sized(n) {
    const step = n < 1000 ? 0 : n < 999950 ? 1 : n < 999950000 ? 2 : n < 999950000000 ? 3 : 4;
    return step ? (n / 1000 ** step).toFixed(1) + "KMBT"[step - 1] : String(n);
  }
  function tell(i, pinned) {
    const card = $("card"), facts = [data.family.texts[data.family.of[i]], data.task.texts[data.task.of[i]]];
    facts.push(data.year[i] || "", `${sized(data.params[i])} parameters`, own.has(i) ? "your own" : "");
    const others = data.also[i] ? data.also[i].split(" ").length : 0;
    card.replaceChildren(make("h2", data.names[i]), make("p", facts.filter(Boolean).join(" · ")));
    if (others) card.append(make("p", `and ${others} other name${others > 1 ? "s" : ""}`));
    if (asked.has(i)) card.append(make("p", i < known ? "asked about" : "asked about; placed by the nearest designs"));
    const paper = data.paper.texts[data.paper.of[i]];
    if (paper) card.append(make("p", paper));
    const svg = data.pictures[i];
    if (svg) card.append(make("img", "", { alt: `Picture of ${data.names[i]}`, src: `data:image/svg+xml,${encodeURIComponent(svg)}` }));
    if (pinned) {
      if (data.link && i < known) {
        const address = data.link + encodeURIComponent(data.names[i]);
        card.appendChild(make("p")).append(make("a", "Find what is like it", { href: address, target: "_top" }));
      }
      const near = make("ul");
      for (const other of nearest(sx(i), sy(i), Infinity, 6)) if (other !== i) near.append(choice(other));
      card.append(make("p", "Nearest on the map:"), near);
      card.append(make("button", "×", { className: "close", ariaLabel: "Close", onclick: () => { leave(); canvas.focus(); } }));
    }
    card.style.pointerEvents = pinned ? "" : "none";  // a hint must not catch the click
    card.hidden = false;
  }
  function choice(i) {
    const item = make("li");
    item.append(make("button", data.names[i], { onclick: () => pick(i, true) }));
    return item;
  }
  function pick(i, move) {
    picked = i;
    const scale = Math.max(view.scale, fitting() * 6), above = wide < 500 ? high / 3.5 / scale : 0;  // the card
    if (move) center(data.x[i], top - data.y[i] + above, scale);
    tell(i, true);
    later();
  }
  function leave() { picked = -1; $("card").hidden = true; later(); }

  function search() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? texts.flatMap((text, i) => (words.every((word) => text.includes(word)) ? [i] : [])) : [];
    matched = words.length ? new Set([...found, ...asked.keys()]) : null;
    $("count").textContent = words.length ? `${found.length.toLocaleString("en")} designs` : "";
    const listed = words.length ? found.slice(0, 30) : [...asked.keys()];
    $("results").replaceChildren(...listed.map(choice));
    later();
  }
  function colourBy(chosen) {
    legend = chosen;
    hidden.clear();
    const rows = legend.entries.map(([text, fill], code) => {
      const row = make("label"), box = make("input", "", { type: "checkbox", checked: true }), dot = make("i");
      dot.style.background = fill === "ink" ? "var(--ink)" : fill;
      box.onchange = () => { hidden[box.checked ? "delete" : "add"](String(code)); later(); };
      row.append(box, dot, make("span", text));
      return row;
    });
    $("legend").replaceChildren(...rows);
    later();
  }

  for (const each of data.legends) {
    const label = make("label"), radio = make("input", "", { type: "radio", name: "colour", checked: each === legend });
    radio.onchange = () => colourBy(each);
    label.append(radio, ` ${each.title}`);
    $("colours").append(label);
  }
  $("about").textContent = data.about;
  canvas.ariaLabel = `Map of ${known} designs. Arrows move, plus and minus zoom, Enter picks the design in the middle.`;
  $("search").oninput = search;
  $("zoom").onclick = (event) => event.target.dataset.by && zoom(Number(event.target.dataset.by));
  canvas.onwheel = (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); };
  canvas.onfocus = canvas.onblur = later;
  canvas.onkeydown = (event) => {
    const step = 60 / view.scale, moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const zooms = { "+": 1.4, "=": 1.4, "-": 1 / 1.4, 0: 0 }, [middle] = nearest(wide / 2, high / 2, Infinity);
    if (event.ctrlKey || event.metaKey) return;
    if (moves[event.key]) shift(...moves[event.key]);
    else if (event.key in zooms) zoom(zooms[event.key]);
    else if (event.key === "Enter" && middle !== undefined) pick(middle);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  const touching = new Map();
  let moved = 0;
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    touching.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
  };
  canvas.onpointermove = (event) => {
    const before = touching.get(event.pointerId), now = [event.offsetX, event.offsetY];
    if (!before) return hover(now);
    const [other] = [...touching].filter(([id]) => id !== event.pointerId).map((each) => each[1]);
    const spread = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
    const speed = view.scale * touching.size;
    shift((before[0] - now[0]) / speed, (before[1] - now[1]) / speed);
    if (other) zoom(spread(now) / spread(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    touching.set(event.pointerId, now);
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => {
    const [i] = nearest(event.offsetX, event.offsetY, 14);
    if (event.type === "pointerup" && moved < 5) i === undefined ? leave() : pick(i);
    touching.delete(event.pointerId);
  };
  function hover([x, y]) {
    const [i = -1] = nearest(x, y, 10);
    if (i === hovered || picked >= 0) return;
    hovered = i;
    i >= 0 ? tell(i) : ($("card").hidden = true);
    later();
  }

  function resize() {
    const first = wide === 1, area = canvas.getBoundingClientRect();
    [wide, high] = [Math.max(area.width, 2), Math.max(area.height, 2)];
    [canvas.width, canvas.height] = [wide * devicePixelRatio, high * devicePixelRatio];
    first ? showAll() : draw();
  }
  new ResizeObserver(resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").onchange = later;
  colourBy(legend);
  search();
}).catch((error) => { $("about").textContent = `The map could not be read: ${error.message}`; });
