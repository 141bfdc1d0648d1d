// An explanation as pictures: every path a chain of facts.

import { bar, count, cut, el, figure, svg, table } from "./dom.js";
import { short } from "./labels.js";

const NODE = 34; // its height
const DOWN = 46; // between two, one above the other
const LETTER = 7.3; // pixels of a letter at the size of the style sheet

// As wide as the longest of some texts, within bounds.
const wide = (texts, least, most) =>
  Math.min(most, Math.max(least, ...texts.map((text) => LETTER * Array.from(short(text)).length + 22)));

function node(label, x, y, width, end) {
  const height = NODE;
  return svg(
    "g",
    { class: end ? "node end" : "node", transform: `translate(${x} ${y})` },
    svg("title", {}, label),
    svg("rect", { width, height, rx: 8 }),
    svg(
      "text",
      { x: width / 2, y: height / 2, "text-anchor": "middle", "dominant-baseline": "central" },
      cut(short(label), Math.floor((width - 14) / LETTER)),
    ),
  );
}

// An arrow points from the fact's head to its tail, whichever way the path walks it.
function link(step, from, to, room, across) {
  const [start, end] = step.forward ? [from, to] : [to, from];
  const [dx, dy] = across ? [Math.sign(end.x - start.x), 0] : [0, Math.sign(end.y - start.y)];
  const tip = `M${end.x} ${end.y}l${-8 * dx - 5 * dy} ${-8 * dy - 5 * dx}l${10 * dy} ${10 * dx}z`;
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return svg(
    "g",
    { class: "link" },
    svg("title", {}, step.relation),
    svg("path", { d: `M${start.x} ${start.y}L${end.x} ${end.y}` }),
    svg("path", { d: tip, class: "tip" }),
    svg(
      "text",
      across
        ? { x: middle.x, y: middle.y - 8, "text-anchor": "middle" }
        : { x: middle.x + 10, y: middle.y, "dominant-baseline": "central" },
      cut(short(step.relation), Math.floor((room - 12) / LETTER)),
    ),
  );
}

export function chain(path, room) {
  const labels = [path.steps[0].source, ...path.steps.map((step) => step.target)];
  const steps = path.steps.length;
  const box = wide(labels, 70, 200);
  const gap = wide(path.steps.map((step) => step.relation), 80, 200);
  const whole = labels.length * box + steps * gap;
  const across = whole <= Math.max(room, 300);
  const place = (i) => (across ? { x: i * (box + gap), y: 10 } : { x: 0, y: 2 + i * (NODE + DOWN) });
  const width = across ? whole : Math.max(box, box / 2 + gap + 10);
  const height = across ? NODE + 20 : labels.length * NODE + steps * DOWN + 4;
  const links = path.steps.map((step, i) => {
    const [a, b] = [place(i), place(i + 1)];
    return across
      ? link(step, { x: a.x + box, y: a.y + NODE / 2 }, { x: b.x, y: b.y + NODE / 2 }, gap, true)
      : link(step, { x: box / 2, y: a.y + NODE }, { x: box / 2, y: b.y }, gap, false);
  });
  return svg(
    "svg",
    { class: "chain", viewBox: `-1 0 ${width + 2} ${height}`, width, height, role: "img", "aria-label": path.words },
    ...links,
    ...labels.map((label, i) => node(label, place(i).x, place(i).y, box, i === 0 || i === steps)),
  );
}

function evidence(path, relation) {
  const e = path.evidence;
  if (!e) return "this fact itself";
  if (!e.joined) return "no such path elsewhere";
  const about = e.sampled ? "about " : "";
  return `elsewhere, ${about}${count(e.holding)} of ${count(e.joined)} pairs with such a path have ${short(relation)}`;
}

export function explanation(found, room) {
  const strongest = Math.max(...found.paths.map((path) => path.weight ?? 0), 1e-12);
  const parts = found.paths.map((path) =>
    el(
      "figure",
      { class: "path" },
      chain(path, room),
      el(
        "figcaption",
        { class: "quiet" },
        path.weight === null ? null : bar(path.weight / strongest),
        path.weight === null ? null : ` weight ${figure(path.weight)}; `,
        evidence(path, found.relation),
      ),
    ),
  );
  if (!parts.length) parts.push(el("p", {}, "No path of the length the model follows leads there."));
  if (found.neighbours.length) {
    const rows = found.neighbours.map((near) => [
      short(near.entity),
      near.step ? `${near.step.forward ? "→" : "←"} ${short(near.step.relation)} ${short(near.step.target)}` : "itself",
      figure(near.attention),
    ]);
    parts.push(el("h3", {}, "Where the model looks"), table(["entity", "fact", "attention"], rows));
  }
  if (found.relations.length) {
    const rows = found.relations.map((near) => [
      short(near.relation) + (near.inverse ? ", read backwards" : ""),
      figure(near.affinity),
      near.attention === null ? "" : figure(near.attention),
    ]);
    parts.push(
      el("h3", {}, `Relations near ${short(found.relation)}`),
      table(["relation", "affinity", "attention"], rows),
    );
  }
  return parts;
}
