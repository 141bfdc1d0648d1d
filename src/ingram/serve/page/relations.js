// The relation graph: searched, zoomed, and told about.

import { get } from "./api.js";
import { bar, byId, count, cut, el, figure, put, svg, table } from "./dom.js";
import { short } from "./labels.js";
import { Zoom, at } from "./zoom.js";

export class Relations {
  constructor(page) {
    this.page = page;
    byId("relation-search").addEventListener("input", () => this.search());
  }

  async show(graph) {
    const [drawn, listed] = await Promise.all([
      get("relations/map", { graph }),
      get("relations", { graph }),
    ]);
    this.drawn = drawn;
    this.figures = new Map(listed.relations.map((row) => [row.relation, row]));
    byId("relation-search").value = "";
    this.zoom = new Zoom(byId("relation-picture"), "The relation graph; arrows move, + and - zoom");
    const most = Math.max(...drawn.relations.map((r) => r.triples), 1);
    const edges = drawn.edges.map(({ source, target, affinity }) => {
      const [a, b] = [drawn.relations[source], drawn.relations[target]];
      const line = svg("line", { x1: at(a.x), y1: at(a.y), x2: at(b.x), y2: at(b.y), class: "edge" });
      line.style.strokeWidth = `calc(var(--unit) * ${(0.5 + 4 * affinity).toFixed(2)}px)`;
      line.style.opacity = (0.15 + 0.6 * affinity).toFixed(2);
      return line;
    });
    this.nodes = drawn.relations.map((relation, i) => {
      const circle = svg("circle", {});
      circle.style.r = `calc(var(--unit) * ${(4 + 8 * Math.sqrt(relation.triples / most)).toFixed(1)}px)`;
      return svg(
        "g",
        { class: "dot", transform: `translate(${at(relation.x)} ${at(relation.y)})`, onclick: () => this.pick(i) },
        svg("title", {}, relation.label),
        circle,
        svg("text", { "text-anchor": "middle", class: "above" }, cut(short(relation.label), 28)),
      );
    });
    put(this.zoom.layer, ...edges, ...this.nodes);
    const order = [...drawn.relations.keys()].sort((a, b) => drawn.relations[b].triples - drawn.relations[a].triples);
    this.zoom.name(
      order.map((i) => ({
        text: this.nodes[i].lastChild,
        x: at(drawn.relations[i].x),
        y: at(drawn.relations[i].y),
      })),
    );
    this.search();
  }

  // Those that match stand out; they are listed below, for keys and for those who cannot see.
  search() {
    const word = byId("relation-search").value.trim().toLowerCase();
    const fits = this.drawn.relations.map(
      ({ label }) => word !== "" && `${label} ${short(label)}`.toLowerCase().includes(word),
    );
    this.nodes.forEach((node, i) => {
      node.classList.toggle("hit", fits[i]);
      node.classList.toggle("dim", word !== "" && !fits[i]);
    });
    const found = this.drawn.relations.map((r, i) => [r, i]).filter(([, i]) => fits[i] || word === "");
    put(
      byId("relation-detail"),
      el("p", { class: "quiet" }, `${count(found.length)} relations`),
      el(
        "ul",
        { class: "chips" },
        ...found
          .slice(0, 60)
          .map(([relation, i]) =>
            el("li", {}, el("button", { class: "small", onclick: () => this.pick(i, true) }, short(relation.label))),
          ),
      ),
    );
  }

  pick(i, centre = false) {
    const relation = this.drawn.relations[i];
    if (centre) this.zoom.centre(at(relation.x), at(relation.y));
    const near = this.drawn.edges
      .filter((edge) => edge.source === i || edge.target === i)
      .map((edge) => [edge.source === i ? edge.target : edge.source, edge.affinity])
      .sort((a, b) => b[1] - a[1]);
    const beside = new Set([i, ...near.map(([j]) => j)]);
    this.nodes.forEach((node, j) => {
      node.classList.toggle("hit", j === i);
      node.classList.toggle("dim", !beside.has(j));
    });
    const row = this.figures.get(relation.label);
    put(
      byId("relation-detail"),
      el("h2", {}, short(relation.label)),
      row
        ? el(
            "p",
            {},
            `${count(row.triples)} triples, ${row.kind}, ${count(row.heads)} heads, ${count(row.tails)} tails; ` +
              `${(100 * row.symmetric).toFixed(0)} % stated both ways`,
          )
        : null,
      table(
        ["near", "affinity", ""],
        near.map(([j, affinity]) => [
          el("button", { class: "small", onclick: () => this.pick(j, true) }, short(this.drawn.relations[j].label)),
          figure(affinity),
          bar(affinity),
        ]),
      ),
      el(
        "button",
        { onclick: () => this.page.ask({ relation: relation.label }) },
        "Ask a question with it",
      ),
    );
  }
}
