// A text field that completes what is typed (the ARIA pattern "combobox with a list").

import { el, put } from "./dom.js";
import { short } from "./labels.js";

export class Combobox {
  // find(typed) gives [{label, note}], perhaps later; chosen(label) is told.
  constructor(input, { find, chosen = () => {} }) {
    this.input = input;
    this.find = find;
    this.chosen = chosen;
    this.options = [];
    this.active = -1;
    this.turn = 0;
    this.label = null; // the whole label, if one was chosen; what is shown may be short
    this.list = el("ul", { role: "listbox", id: `${input.id}-list`, class: "options", hidden: true });
    this.list.setAttribute("aria-labelledby", `${input.id}-label`);
    this.list.tabIndex = -1; // a list that scrolls would take the focus from the next field
    input.after(this.list);
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.list.id,
    })) {
      input.setAttribute(name, value);
    }
    input.addEventListener("input", () => {
      this.label = null;
      this.open();
    });
    input.addEventListener("focus", () => this.open());
    input.addEventListener("click", () => this.open());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
  }

  get value() {
    return this.label ?? this.input.value;
  }

  set(label) {
    this.label = label;
    this.input.value = label === null ? "" : short(label);
    this.close();
  }

  async open() {
    const turn = ++this.turn;
    let options;
    try {
      options = await this.find(this.label === null ? this.input.value : "");
    } catch {
      options = [];
    }
    if (turn !== this.turn || document.activeElement !== this.input) return; // an older answer
    // Nothing is left to complete: the list would only hide what comes below.
    if (options.length === 1 && short(options[0].label) === this.input.value) options = [];
    this.options = options;
    this.active = -1;
    put(
      this.list,
      ...options.map((option, place) =>
        el(
          "li",
          {
            role: "option",
            id: `${this.list.id}-${place}`,
            "aria-selected": "false",
            title: option.label,
            onmousedown: (event) => event.preventDefault(), // keep the focus in the field
            onclick: () => this.choose(place),
          },
          el("span", {}, short(option.label)),
          el("span", { class: "quiet" }, option.note),
        ),
      ),
    );
    this.list.hidden = !options.length;
    this.input.setAttribute("aria-expanded", String(options.length > 0));
    this.input.removeAttribute("aria-activedescendant");
  }

  close() {
    this.turn++;
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  choose(place) {
    this.set(this.options[place].label);
    this.chosen(this.label);
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.open();
      else this.mark(this.active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.choose(this.active);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.close();
    }
  }

  mark(place) {
    const items = [...this.list.children];
    if (!items.length) return;
    this.active = (place + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === this.active)));
    items[this.active].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", items[this.active].id);
  }
}
