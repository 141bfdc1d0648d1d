// The page: which graph, which view, and what the address remembers.

import { Ask } from "./ask.js";
import { get } from "./api.js";
import { byId, count, el, put } from "./dom.js";
import { usePrefixes } from "./labels.js";
import { EntityMap } from "./map.js";
import { Relations } from "./relations.js";
import { Statistics } from "./statistics.js";

class Page {
  constructor() {
    this.graph = null;
    this.view = "ask";
    this.shown = new Set(); // views that show the present graph already
    this.views = {
      ask: new Ask(this),
      relations: new Relations(this),
      statistics: new Statistics(),
      map: new EntityMap(this),
    };
    this.tabs = Object.keys(this.views).map((name) => byId(`tab-${name}`));
    for (const [place, tab] of this.tabs.entries()) {
      tab.addEventListener("click", () => this.try(() => this.open(tab.id.slice(4))));
      tab.addEventListener("keydown", (event) => this.key(event, place));
    }
    byId("graph").addEventListener("change", () => this.try(() => this.use(byId("graph").value)));
  }

  async start() {
    const { graphs } = await get("graphs");
    this.graphs = new Map(graphs.map((graph) => [graph.name, graph]));
    put(byId("graph"), ...graphs.map(({ name }) => el("option", { value: name }, name)));
    if (!graphs.length) throw new Error("no graph is served yet; send one, as the docs say");
    const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    await this.use(this.graphs.has(given.graph) ? given.graph : graphs[0].name);
    if (given.view in this.views) await this.open(given.view);
    this.views.ask.fill(given);
    if (given.entity && (given.relation || given.other)) await this.views.ask.ask();
  }

  // Do something; if it fails, say why.
  async try(work) {
    byId("trouble").hidden = true;
    try {
      await work();
    } catch (error) {
      byId("trouble").textContent = error.message;
      byId("trouble").hidden = false;
    }
  }

  async use(name) {
    this.graph = name;
    byId("graph").value = name;
    const about = this.graphs.get(name);
    usePrefixes(about.prefixes);
    put(
      byId("about"),
      `${count(about.entities)} entities, ${count(about.relations)} relations, ` +
        `${count(about.triples)} triples; answered by ${about.model}`,
    );
    this.shown.clear();
    await this.open(this.view);
    if (this.view !== "ask") await this.fresh("ask");
  }

  async fresh(view) {
    if (this.shown.has(view)) return;
    this.shown.add(view);
    try {
      await this.views[view].show(this.graph);
    } catch (error) {
      this.shown.delete(view);
      throw error;
    }
  }

  async open(view) {
    this.view = view;
    for (const tab of this.tabs) {
      const chosen = tab.id === `tab-${view}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !chosen;
    }
    await this.fresh(view);
  }

  // Go to the question with part of it filled in.
  ask(part) {
    this.try(async () => {
      await this.open("ask");
      this.views.ask.fill(part);
      byId("entity").scrollIntoView({ block: "center" });
      byId(part.entity && !byId("relation-field").hidden ? "relation" : "entity").focus();
    });
  }

  remember(question) {
    history.replaceState(null, "", `#${new URLSearchParams({ graph: this.graph, ...question })}`);
  }

  key(event, place) {
    const moves = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: this.tabs.length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const tab = this.tabs[(moves[event.key] + this.tabs.length) % this.tabs.length];
    tab.focus();
    tab.click();
  }
}

const page = new Page();
page.try(() => page.start());
