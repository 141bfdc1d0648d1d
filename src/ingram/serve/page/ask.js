// The question and its answers.

import { get, post } from "./api.js";
import { Combobox } from "./combobox.js";
import { bar, byId, count, el, figure, put } from "./dom.js";
import { short } from "./labels.js";
import { explanation } from "./paths.js";

const FOUND = 12; // completions shown

export class Ask {
  constructor(page) {
    this.page = page;
    this.relations = [];
    this.turn = 0;
    this.entity = new Combobox(byId("entity"), { find: (typed) => this.entities(typed) });
    this.relation = new Combobox(byId("relation"), { find: (typed) => this.matching(typed) });
    byId("question").addEventListener("submit", (event) => {
      event.preventDefault();
      this.page.try(() => this.ask());
    });
  }

  async show(graph) {
    this.turn++;
    this.entity.set(null);
    this.relation.set(null);
    put(byId("asked"));
    put(byId("answers"));
    this.relations = (await get("relations", { graph })).relations;
  }

  async entities(prefix) {
    const found = await get("entities", { graph: this.page.graph, prefix, k: FOUND });
    return found.entities.map(({ label, triples }) => ({ label, note: count(triples) }));
  }

  matching(typed) {
    const word = typed.toLowerCase();
    return this.relations
      .filter(({ relation }) => `${relation} ${short(relation)}`.toLowerCase().includes(word))
      .slice(0, 50)
      .map(({ relation, triples }) => ({ label: relation, note: count(triples) }));
  }

  get side() {
    return document.querySelector("input[name=side]:checked").value;
  }

  // Put a question into the form; what is left out stays.
  fill({ entity, relation, side, k, hide }) {
    if (entity) this.entity.set(entity);
    if (relation) this.relation.set(relation);
    if (side) document.querySelector(`input[name=side][value=${side === "head" ? "head" : "tail"}]`).checked = true;
    if (k && [...byId("k").options].some((option) => option.value === k)) byId("k").value = k;
    if (hide != null) byId("hide").checked = hide === "1";
  }

  async ask() {
    const turn = ++this.turn;
    const given = { entity: this.entity.value, relation: this.relation.value, side: this.side };
    const known = byId("hide").checked ? "hide" : "mark";
    this.entity.close();
    this.relation.close();
    const anchor = given.side === "tail" ? "head" : "tail";
    const question = { [anchor]: given.entity, relation: given.relation };
    const k = Number(byId("k").value);
    byId("answers").setAttribute("aria-busy", "true");
    try {
      const { answers } = await post("predict", { graph: this.page.graph, questions: [question], k, known });
      if (turn !== this.turn) return;
      this.page.remember({ ...given, k, hide: known === "hide" ? 1 : 0 });
      this.draw(question, given.side, answers[0]);
    } finally {
      byId("answers").removeAttribute("aria-busy");
    }
  }

  draw(question, side, rows) {
    const part = (name) => (question[name] ? short(question[name]) : "?");
    put(byId("asked"), `${part("head")} — ${short(question.relation)} → ${part("tail")}`);
    const scores = rows.map((row) => row.score);
    const [low, high] = [Math.min(...scores), Math.max(...scores)];
    const share = (score) => (high > low ? 0.02 + (0.98 * (score - low)) / (high - low) : 1);
    put(byId("answers"), ...rows.map((row) => this.row(row, side, share(row.score))));
    if (!rows.length) put(byId("answers"), el("li", {}, "No answer is left."));
  }

  row(row, side, share) {
    const why = el("div", { class: "why", hidden: true });
    const button = el(
      "button",
      { class: "answer", "aria-expanded": "false", title: "Why?", onclick: () => this.why(row, button, why) },
      short(row[side]),
    );
    const ask = el(
      "button",
      {
        class: "small",
        "aria-label": `Ask about ${short(row[side])}`,
        onclick: () => {
          this.entity.set(row[side]);
          byId("entity").focus();
          byId("entity").scrollIntoView({ block: "center" });
        },
      },
      "ask about it",
    );
    return el(
      "li",
      { class: row.known ? "known" : "" },
      el(
        "div",
        { class: "line" },
        el("span", { class: "rank" }, row.rank),
        button,
        row.known ? el("span", { class: "badge", title: "This is a fact of the graph." }, "known") : null,
        ask,
        el("span", { class: "score" }, figure(row.score)),
      ),
      bar(share),
      why,
    );
  }

  async why(row, button, place) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    place.hidden = open;
    if (open || place.childElementCount) return;
    put(place, el("p", { class: "quiet" }, "looking for reasons …"));
    const { head, relation, tail } = row;
    try {
      const found = await get("explain", { graph: this.page.graph, head, relation, tail });
      put(place, ...explanation(found, place.clientWidth));
    } catch (error) {
      put(place, el("p", { class: "bad" }, error.message));
    }
  }
}
