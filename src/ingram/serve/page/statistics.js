// A graph in figures.

import { get } from "./api.js";
import { bar, byId, count, el, figure, put, table } from "./dom.js";
import { short } from "./labels.js";

const MOST = 100; // relations listed
const percent = (share) => `${(100 * share).toFixed(1)} %`;

export class Statistics {
  async show(graph) {
    const { statistics: s } = await get("statistics", { graph });
    const rows = s.relation_table.slice(0, MOST);
    const most = Math.max(...rows.map((row) => row.triples), 1);
    const more = s.relation_table.length - rows.length;
    put(
      byId("view-statistics"),
      el("h2", {}, "Size"),
      table(
        ["", ""],
        [
          ["entities", count(s.entities)],
          ["relations", count(s.relations)],
          ["triples", count(s.triples)],
          ...(s.weight === null ? [] : [["sum of weights", figure(s.weight)]]),
          ["triples at an entity, on average", figure(s.mean_degree)],
          ["loops", count(s.loops)],
          ["components", count(s.components)],
          ["entities in the giant one", percent(s.giant_component.entities)],
          ["share of possible triples", s.density.toExponential(1)],
        ],
      ),
      el("h2", {}, "Triples at an entity"),
      table(
        ["", ...Object.keys(s.degrees.all)],
        [["all", "all"], ["as head", "out"], ["as tail", "in"]].map(([name, key]) => [
          name,
          ...Object.values(s.degrees[key]).map((value) => count(Math.round(value))),
        ]),
      ),
      el("h2", {}, "Types of relations"),
      table(
        ["type", "relations", "triples", ""],
        Object.entries(s.relation_kinds).map(([kind, c]) => [
          kind,
          count(c.relations),
          count(c.triples),
          bar(c.triples / Math.max(s.triples, 1)),
        ]),
      ),
      el("h2", {}, "Relations"),
      table(
        ["relation", "triples", "", "tails a head", "heads a tail", "type", "both ways"],
        rows.map((row) => [
          short(row.relation),
          count(row.triples),
          bar(row.triples / most),
          figure(row.tails_per_head),
          figure(row.heads_per_tail),
          row.kind,
          percent(row.symmetric),
        ]),
      ),
      more > 0 ? el("p", { class: "quiet" }, `and ${count(more)} rarer ones`) : null,
    );
  }
}
