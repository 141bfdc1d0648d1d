// A picture to move about in: wheel, drag, pinch, keys and buttons.

import { el, put, svg } from "./dom.js";

export const SIZE = 1000; // the picture's own units; places in [-1, 1] are drawn within it
export const at = (value) => SIZE / 2 + value * SIZE * 0.45;

export class Zoom {
  constructor(place, label) {
    this.view = { x: 0, y: 0, size: SIZE };
    this.pointers = new Map();
    this.moved = false;
    this.labels = [];
    this.layer = svg("g");
    this.svg = svg("svg", { tabindex: "0", role: "group", "aria-label": label, class: "zoom" }, this.layer);
    const button = (text, name, work) =>
      el("button", { type: "button", "aria-label": name, title: name, onclick: work }, text);
    put(
      place,
      this.svg,
      el(
        "div",
        { class: "zoom-buttons" },
        button("+", "Zoom in", () => this.scale(0.7)),
        button("−", "Zoom out", () => this.scale(1 / 0.7)),
        button("⤢", "See everything", () => this.reset()),
      ),
    );
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      this.svg.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
    this.draw();
  }

  draw() {
    const { x, y, size } = this.view;
    this.svg.setAttribute("viewBox", `${x} ${y} ${size} ${size}`);
    // Letters and points keep their size on the screen.
    const pixels = Math.min(this.svg.clientWidth, this.svg.clientHeight) || 600;
    this.svg.style.setProperty("--unit", String(size / pixels));
    this.thin(size / pixels);
  }

  // Texts above points, [{text, x, y}], the most important first.
  name(labels) {
    this.labels = labels.map((label) => ({ ...label, letters: Array.from(label.text.textContent).length }));
    this.draw();
  }

  // Leave out texts that would cover more important ones; closer by, there is room for more. Those
  // that would be cut off by the picture's edge are moved inwards.
  thin(unit) {
    const shown = [];
    const reach = (this.svg.clientWidth * unit) / 2;
    const [first, last] = [this.middle().x - reach, this.middle().x + reach];
    for (const { text, x, y, letters } of this.labels) {
      const half = (3.6 * letters + 4) * unit;
      const inside = first <= x && x <= last;
      const moved = inside ? Math.max(0, first - x + half) - Math.max(0, x + half - last) : 0;
      text.setAttribute("dx", moved);
      const [left, right] = [x - half + moved, x + half + moved];
      const box = { left, right, top: y - 27 * unit, bottom: y - 11 * unit };
      const taken = (other) =>
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom;
      const free = !shown.some(taken);
      text.classList.toggle("off", !free);
      if (free) shown.push(box);
    }
  }

  reset() {
    this.view = { x: 0, y: 0, size: SIZE };
    this.draw();
  }

  // Closer (below 1) or farther, about a point of the picture; the middle without one.
  scale(factor, point = this.middle()) {
    const size = Math.min(2 * SIZE, Math.max(SIZE / 200, this.view.size * factor));
    const real = size / this.view.size;
    this.view = {
      x: point.x - (point.x - this.view.x) * real,
      y: point.y - (point.y - this.view.y) * real,
      size,
    };
    this.draw();
  }

  middle() {
    const half = this.view.size / 2;
    return { x: this.view.x + half, y: this.view.y + half };
  }

  centre(x, y, size = this.view.size) {
    this.view = { x: x - size / 2, y: y - size / 2, size };
    this.draw();
  }

  point(event) {
    const matrix = this.svg.getScreenCTM().inverse();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  }

  wheel(event) {
    event.preventDefault();
    this.scale(Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.point(event));
  }

  down(event) {
    this.pointers.set(event.pointerId, event);
    this.moved = false;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const others = [...this.pointers.values()].filter((p) => p.pointerId !== event.pointerId);
    const [from, to] = [this.point(before), this.point(event)];
    if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 2) this.moved = true;
    if (others.length) {
      const fixed = this.point(others[0]);
      const was = Math.hypot(from.x - fixed.x, from.y - fixed.y);
      const is = Math.hypot(to.x - fixed.x, to.y - fixed.y);
      if (was > 0 && is > 0) this.scale(was / is, fixed);
    } else {
      this.view.x -= to.x - from.x;
      this.view.y -= to.y - from.y;
      this.draw();
    }
    this.pointers.set(event.pointerId, event);
  }

  key(event) {
    const step = this.view.size / 8;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (moves[event.key]) {
      this.view.x += step * moves[event.key][0];
      this.view.y += step * moves[event.key][1];
      this.draw();
    } else if (event.key === "+" || event.key === "=") this.scale(0.7);
    else if (event.key === "-") this.scale(1 / 0.7);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }
}
