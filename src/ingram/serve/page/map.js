// The entities in the plane, coloured by what they mostly are.

import { get } from "./api.js";
import { byId, count, cut, el, put, svg } from "./dom.js";
import { short } from "./labels.js";
import { Zoom, at } from "./zoom.js";

const COLOURS = 7; // the last one is for all rarer roles
const NAMED = 600; // points that get a text

// "capital_of (head)" as people say it.
const said = (role) => role.replace(/^(.*) \((head|tail)\)$/s, (_, relation, end) => `${end} of ${short(relation)}`);

export class EntityMap {
  constructor(page) {
    this.page = page;
    byId("map-search").addEventListener("input", () => this.search());
  }

  async show(graph) {
    const drawn = await get("entities/map", { graph });
    this.points = drawn.points;
    byId("map-search").value = "";
    put(byId("map-detail"));
    put(byId("map-how"), `${count(this.points.length)} entities: ${drawn.how}.`);
    const roles = new Map();
    for (const { role } of this.points) roles.set(role, (roles.get(role) ?? 0) + 1);
    const common = [...roles].sort((a, b) => b[1] - a[1]).slice(0, COLOURS);
    const colour = new Map(common.map(([role], i) => [role, i]));
    this.zoom = new Zoom(byId("map-picture"), "Map of the entities; arrows move, + and - zoom");
    const most = Math.max(...this.points.map((point) => point.degree), 1);
    this.nodes = this.points.map((point, i) => {
      const circle = svg("circle", {});
      circle.style.r = `calc(var(--unit) * ${(2.5 + 6 * Math.sqrt(point.degree / most)).toFixed(1)}px)`;
      return svg(
        "g",
        {
          class: `dot c${colour.get(point.role) ?? COLOURS}`,
          transform: `translate(${at(point.x)} ${at(point.y)})`,
          onclick: () => this.zoom.moved || this.pick(i),
        },
        svg("title", {}, short(point.label)),
        circle,
        svg("text", { "text-anchor": "middle", class: "above off" }, cut(short(point.label), 28)),
      );
    });
    put(this.zoom.layer, ...this.nodes);
    const order = [...this.points.keys()].sort((a, b) => this.points[b].degree - this.points[a].degree);
    this.zoom.name(
      order.slice(0, NAMED).map((i) => ({
        text: this.nodes[i].lastChild,
        x: at(this.points[i].x),
        y: at(this.points[i].y),
      })),
    );
    const words = common.map(([role], i) => [said(role), i]);
    if (roles.size > COLOURS) words.push(["other", COLOURS]);
    put(
      byId("map-legend"),
      ...words.map(([text, i]) => el("li", {}, el("span", { class: `swatch c${i}` }), text)),
    );
  }

  search() {
    const word = byId("map-search").value.trim().toLowerCase();
    const fits = this.points.map(
      ({ label }) => word !== "" && `${label} ${short(label)}`.toLowerCase().includes(word),
    );
    this.nodes.forEach((node, i) => {
      node.classList.toggle("hit", fits[i]);
      node.classList.toggle("dim", word !== "" && !fits[i]);
    });
    const found = this.points.map((point, i) => [point, i]).filter(([, i]) => fits[i]);
    put(
      byId("map-detail"),
      word === "" ? null : el("p", { class: "quiet" }, `${count(found.length)} found`),
      el(
        "ul",
        { class: "chips" },
        ...found
          .slice(0, 30)
          .map(([point, i]) =>
            el("li", {}, el("button", { class: "small", onclick: () => this.pick(i, true) }, short(point.label))),
          ),
      ),
    );
  }

  pick(i, centre = false) {
    const point = this.points[i];
    this.nodes.forEach((node, j) => {
      node.classList.toggle("hit", j === i);
      node.classList.remove("dim");
    });
    this.zoom.layer.append(this.nodes[i]); // above the others
    if (centre) this.zoom.centre(at(point.x), at(point.y), 250);
    put(
      byId("map-detail"),
      el("h2", {}, short(point.label)),
      el("p", {}, `${count(point.degree)} triples, mostly ${said(point.role)}`),
      el("button", { onclick: () => this.page.ask({ entity: point.label }) }, "Ask about it"),
    );
  }
}
