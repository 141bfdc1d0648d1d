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
    this.other = new Combobox(byId("other"), { find: (typed) => this.entities(typed) });
    for (const radio of document.querySelectorAll("input[name=side]")) {
      radio.addEventListener("change", () => this.turned());
    }
    byId("question").addEventListener("submit", (event) => {
      event.preventDefault();
      this.page.try(() => this.ask());
    });
  }

  async show(graph) {
    this.turn++;
    this.entity.set(null);
    this.relation.set(null);
    this.other.set(null);
    put(byId("asked"));
    put(byId("answers"));
    byId("hint").hidden = false;
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

  // Show the field that goes with the first: a relation, or another entity.
  turned() {
    const between = this.side === "relation";
    byId("relation-field").hidden = between;
    byId("other-field").hidden = !between;
    byId("relation").required = !between;
    byId("other").required = between;
  }

  // Put a question into the form; what is left out stays.
  fill({ entity, relation, other, side, k, hide }) {
    if (entity) this.entity.set(entity);
    if (relation) this.relation.set(relation);
    if (other) this.other.set(other);
    const radio = [...document.querySelectorAll("input[name=side]")].find(({ value }) => value === side);
    if (radio) radio.checked = true;
    this.turned();
    if (k && [...byId("k").options].some((option) => option.value === k)) byId("k").value = k;
    if (hide != null) byId("hide").checked = hide === "1";
  }

  async ask() {
    const turn = ++this.turn;
    const side = this.side;
    const known = byId("hide").checked ? "hide" : "mark";
    const entity = this.entity.value;
    const second = side === "relation" ? { other: this.other.value } : { relation: this.relation.value };
    for (const field of [this.entity, this.relation, this.other]) field.close();
    const question =
      side === "relation"
        ? { head: entity, tail: second.other }
        : { [side === "tail" ? "head" : "tail"]: entity, ...second };
    const k = Number(byId("k").value);
    byId("answers").setAttribute("aria-busy", "true");
    try {
      const { answers } = await post("predict", { graph: this.page.graph, questions: [question], k, known });
      if (turn !== this.turn) return;
      this.page.remember({ entity, ...second, side, k, hide: known === "hide" ? 1 : 0 });
      this.draw(question, side, answers[0]);
    } finally {
      byId("answers").removeAttribute("aria-busy");
    }
  }

  draw(question, side, rows) {
    const part = (name) => (question[name] ? short(question[name]) : "?");
    byId("hint").hidden = true;
    put(byId("asked"), `${part("head")} — ${part("relation")} → ${part("tail")}`);
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
      { class: "answer", "aria-expanded": "false", title: "Why?", onclick: () => this.why(row, side, button, why) },
      short(row[side]),
    );
    const chance = row.probability == null ? "" : ` · ${(100 * row.probability).toFixed(0)} %`;
    return el(
      "li",
      { class: row.known ? "known" : "" },
      el(
        "div",
        { class: "line" },
        el("span", { class: "rank" }, row.rank),
        button,
        row.known ? el("span", { class: "badge", title: "This is a fact of the graph." }, "known") : null,
        el("span", { class: "score", title: "score" + (chance && " and probability") }, figure(row.score) + chance),
      ),
      bar(share),
      why,
    );
  }

  async why(row, side, button, place) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    place.hidden = open;
    if (open || place.childElementCount) return;
    put(place, el("p", { class: "quiet" }, "looking for reasons …"));
    const { head, relation, tail } = row;
    try {
      const found = await get("explain", { graph: this.page.graph, head, relation, tail });
      put(place, ...explanation(found, place.clientWidth), this.next(row[side], side));
    } catch (error) {
      put(place, el("p", { class: "bad" }, error.message));
    }
  }

  // From an answer to the next question.
  next(label, side) {
    const part = side === "relation" ? { relation: label, side: "tail" } : { entity: label };
    return el("button", { class: "small", onclick: () => this.page.ask(part) }, `Ask about ${short(label)}`);
  }
}
