// Elements, made without ever reading text as markup: a label can be any text at all.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

export const el = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

export const byId = (id) => document.getElementById(id);

export function put(place, ...children) {
  place.replaceChildren(...children.filter((child) => child != null));
}

// Text cut to a length, the whole of it on hovering. Code points, so that no character is split.
export function cut(text, most) {
  const points = Array.from(text);
  return points.length <= most ? text : points.slice(0, most - 1).join("") + "…";
}

export const count = (number) => Number(number).toLocaleString("en");

export function figure(value) {
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return size < 10 ? value.toFixed(3) : value.toFixed(1);
}

export function table(headings, rows) {
  return el(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": headings[0] || "figures" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...headings.map((text) => el("th", { scope: "col" }, text)))),
      el(
        "tbody",
        {},
        ...rows.map(([name, ...cells]) =>
          el("tr", {}, el("th", { scope: "row" }, name), ...cells.map((cell) => el("td", {}, cell))),
        ),
      ),
    ),
  );
}

// A bar from 0 to 1. Its width is set through the style object: no style stands in the markup.
export function bar(share) {
  const inner = el("span", { class: "fill" });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, inner);
}
