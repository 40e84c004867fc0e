"use strict";
// The controls of a conversation, built from the actions that the game declares: the text box, the code editor,
// rows to choose from, and buttons. It needs lines.js.

/** Ask for confirmation of an action that cannot be undone. */
function confirmed(question) {
  if (!question) return Promise.resolve(true);
  const box = byId("ask");
  byId("asked").textContent = question;
  box.returnValue = "no";
  box.showModal();
  box.querySelector("[value=no]").focus();
  return new Promise((resolve) => box.addEventListener("close", () => resolve(box.returnValue === "yes"), { once: true }));
}

class Controls {
  /** setup: the server's facts about the seat. play(action, data) and typing() report what the person does. */
  constructor(setup, play, typing) {
    this.play = play;
    this.typing = typing;
    this.setup = setup;
    this.parts = []; // { action, node, show(legal), choices(items)? }
    this.message = null;
  }

  build() {
    const at = (place) => this.setup.actions.filter((action) => action.place === place);
    for (const action of at("message")) this.buildMessage(action);
    for (const action of [...at("more"), ...at("panel").filter((each) => !this.panelOf(each))]) this.buildMore(action);
    for (const action of at("panel").filter((each) => this.panelOf(each))) this.buildChoice(action, this.panelOf(action));
    if (at("editor").length) this.buildEditor(at("editor"));
  }

  panelOf(action) {
    return this.setup.panels.find((each) => each.action === action.name);
  }

  async send(action, data) {
    if (!(await confirmed(action.question))) return false;
    this.play(action, data);
    return true;
  }

  buildMessage(action) {
    const [field] = action.fields;
    const box = el("textarea", { rows: 2, maxlength: field.length, placeholder: action.hint || field.label, "aria-label": action.hint || field.label });
    const button = el("button", {}, action.label);
    const form = el("form", { "data-action": action.name }, box, button);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (box.value.trim() === "" || button.disabled) return box.focus();
      if (await this.send(action, box.value)) box.value = "";
      box.focus();
    });
    box.addEventListener("input", this.typing);
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    byId("message").append(form);
    this.message = box;
    this.parts.push({ action, show: (legal, isTurn) => { button.disabled = !legal; form.hidden = isTurn && !legal; } });
  }

  /** Build a button, or a form that can be opened. */
  buildMore(action) {
    const isBare = action.fields.length === 0;
    const boxes = action.fields.map((field) => this.input(field));
    const button = el("button", isBare ? { class: "quiet", title: action.hint } : {}, action.label);
    const form = el("form", { "data-action": action.name },
      isBare || !action.hint ? "" : el("p", { class: "about" }, action.hint),
      boxes.map((box, place) => el("label", {}, action.fields[place].label, " ", box)), button);
    const isOnly = this.setup.actions.length === 1;
    const node = isBare || isOnly ? form : el("details", {}, el("summary", {}, action.label), form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const values = action.fields.map((field, place) => valueOf(field, boxes[place]));
      const data = values.length === 0 ? null : values.length === 1 ? values[0]
        : Object.fromEntries(action.fields.map((field, place) => [field.name, values[place]]));
      if (button.disabled || !(await this.send(action, data))) return;
      showTab("talk");
      if (isBare) return;
      node.open = false;
      for (const [place, field] of action.fields.entries()) if (field.kind === "text") boxes[place].value = "";
    });
    this.hostOf(action).append(node);
    this.parts.push({
      action,
      show: (legal) => { node.hidden = !legal; button.disabled = !legal; },
      choices: (items) => { for (const box of boxes) if (box.dataset.items) showChoices(box, items); },
    });
  }

  /** Return the panel for the action's button, or the place below the conversation. */
  hostOf(action) {
    const place = this.setup.panels.findIndex((each) => each.actions.includes(action.name));
    if (place < 0) return byId("more");
    const box = this.panelBox(this.setup.panels[place]);
    return box.querySelector(".acts") ?? box.appendChild(el("div", { class: "acts" }));
  }

  panelBox(part) {
    return [...document.querySelectorAll("#side .panel")].find((each) => each.querySelector("h2").textContent === part.title);
  }

  input(field) {
    if (field.kind === "item") return el("select", { "data-items": "yes" });
    if (field.kind === "text" || field.kind === "code") {
      const made = el("input", { type: "text", maxlength: field.length, required: !field.optional, autocomplete: "off" });
      made.addEventListener("input", this.typing);
      return made;
    }
    return el("input", { type: "number", name: field.name, min: field.low, max: field.high, step: field.kind === "integer" ? 1 : "any", required: !field.optional });
  }

  /** Build the rows of a panel, one of which can be chosen. */
  buildChoice(action, part) {
    const rows = part.rows.map((row, place) => {
      const label = row.join(", ");
      return el("tr", {}, el("td", {}, el("input", { type: "radio", name: action.name, value: place, required: true, "aria-label": label })), row.map((cell) => el("td", { dir: "auto" }, visible(cell))));
    });
    for (const row of rows) row.addEventListener("click", () => { row.querySelector("input").checked = true; });
    const button = el("button", {}, action.label);
    const form = el("form", { "data-action": action.name, class: "choice" }, table("", ["", ...part.columns], rows), el("div", { class: "send" }, button, action.hint ? el("p", { class: "about" }, action.hint) : ""));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = form.querySelector("input:checked");
      if (chosen && !button.disabled) this.send(action, this.items[Number(chosen.value)]);
    });
    this.panelBox(part).querySelector(".wide").replaceWith(form);
    this.parts.push({ action, show: (legal) => { button.disabled = !legal; }, choices: (items) => { this.items = items; } });
  }

  buildEditor(actions) {
    const [{ fields: [field] }] = actions;
    const host = el("div", { class: "code" });
    const first = () => buttons.find((button) => !button.disabled && !button.hidden)?.click();
    const label = `Your ${field.label}`;
    const tables = this.setup.panels.flatMap((part) => part.tables.map(({ name, columns }) => ({ name, columns: columns.map(([column, type]) => ({ name: column, type })) })));
    const known = [this.setup.opening, ...this.setup.panels.flatMap((part) => [part.text, ...part.entries.map(([name, text]) => `${name} ${text}`)])].join(" ");
    if (window.makeEditor) {
      const made = window.makeEditor(host, { label, tables, words: [...new Set(known.match(/[A-Za-z]\w*_\w+/g))], length: field.length, onChange: this.typing, onSend: first });
      this.code = { text: made.text, focus: made.focus };
    } else {
      const box = el("textarea", { rows: 5, class: "code", maxlength: field.length, placeholder: label, "aria-label": label, spellcheck: "false" });
      box.addEventListener("input", this.typing);
      box.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) first(); });
      host.append(box);
      this.code = { text: () => box.value, focus: () => box.focus() };
    }
    const buttons = actions.map((action) => {
      const button = el("button", { type: "button", "data-action": action.name, title: action.hint }, action.label);
      button.addEventListener("click", async () => {
        if (this.code.text().trim() === "") { tell("Please write something in the editor first."); return this.code.focus(); }
        await this.send(action, this.code.text());
        showTab("talk");
      });
      this.parts.push({ action, show: (legal) => { button.disabled = !legal; } });
      return button;
    });
    byId("editor").append(host, el("div", { class: "buttons" }, buttons, el("span", { class: "about" }, `Ctrl-Enter: ${actions[0].label}`)));
  }

  /** Show the actions that are possible now. */
  show(state) {
    for (const part of this.parts) {
      part.choices?.(state.choices);
      part.show(state.legal.includes(part.action.name), state.legal.length > 0);
    }
  }
}

function valueOf(field, box) {
  if (field.kind === "item") return box.value === "" ? null : JSON.parse(box.value);
  if (field.kind === "text" || field.kind === "code") return box.value === "" && field.optional ? null : box.value;
  return box.value === "" ? null : Number(box.value);
}

/** Return an item of a game as one line: "a, 3". */
function named(item) {
  if (item == null) return "nothing";
  return typeof item === "object" ? Object.values(item).map(named).join(", ") : String(item);
}

/** Show the present items, and keep the chosen one if it is still there. */
function showChoices(list, choices) {
  const items = choices.map((item) => JSON.stringify(item));
  const known = [...list.options].map((option) => option.value);
  if (items.length === known.length && items.every((item, place) => item === known[place])) return;
  const chosen = list.value;
  list.replaceChildren(...choices.map((item, place) => el("option", { value: items[place] }, visible(named(item)))));
  if (items.includes(chosen)) list.value = chosen;
}

// --- the parts of the page, which are tabs on a phone

let unread = 0;

function buildTabs(titles, hasCode) {
  const tabs = [["talk", "Conversation"], ...(hasCode ? [["code", "SQL"]] : []), ...titles.map((title, place) => [`panel-${place}`, title])];
  byId("tabs").replaceChildren(...tabs.map(([name, title]) => el("button", { type: "button", "data-tab": name, "aria-pressed": name === "talk" ? "true" : "false", onclick: () => showTab(name) }, title)));
}

function showTab(name) {
  byId("chat").dataset.tab = name;
  for (const button of byId("tabs").children) button.setAttribute("aria-pressed", String(button.dataset.tab === name));
  for (const [place, part] of [...document.querySelectorAll("#side .panel")].entries()) part.classList.toggle("current", name === `panel-${place}`);
  if (name === "talk") read();
  byId("log").scrollTop = byId("log").scrollHeight;
}

/** Count an unread message in the title and the tab until it has been seen. */
function noteUnread() {
  const isHidden = byId("log").offsetParent === null;
  if (!document.hidden && !isHidden) return;
  unread += 1;
  document.title = `(${unread}) ${byId("main").querySelector("h1").textContent}`;
  byId("tabs").firstChild.textContent = `Conversation (${unread})`;
}

function read() {
  unread = 0;
  document.title = byId("main").querySelector("h1").textContent;
  if (byId("tabs").firstChild) byId("tabs").firstChild.textContent = "Conversation";
}
