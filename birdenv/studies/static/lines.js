// Lines of a dialogue, tables, and what a seat knows: for every page that shows them. All text goes in as
// text: nothing here writes HTML.
"use strict";

const byId = (id) => document.getElementById(id);

function make(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

function words(name) {
  return name.replaceAll("_", " ");
}

function table(rows, names) {
  const made = make("table");
  const head = make("tr");
  for (const name of names) head.append(make("th", name));
  made.append(head);
  for (const row of rows) {
    const line = make("tr");
    for (const cell of row) line.append(make("td", typeof cell === "object" ? JSON.stringify(cell) : String(cell)));
    made.append(line);
  }
  const box = make("div", undefined, "wide");
  box.append(made);
  return box;
}

function knowledge(value) {
  if (Array.isArray(value) && value.length && value.every((row) => row && typeof row === "object")) {
    const names = [...new Set(value.flatMap(Object.keys))];
    return table(value.map((row) => names.map((name) => row[name] ?? "")), names);
  }
  if (value && typeof value === "object") {
    const made = make("div");
    for (const [name, part] of Object.entries(value)) {
      const box = make("p");
      box.append(make("strong", `${name}: `));
      if (Array.isArray(part) && part.every((each) => typeof each !== "object")) box.append(part.join("\n"));
      else if (part && typeof part === "object") box.append(knowledge(part));
      else box.append(String(part ?? "none"));
      made.append(box);
    }
    return made;
  }
  return make("p", value == null ? "" : String(value));
}

// A reply that is a table of text ("a | b" under a rule) is shown as one; all else as it is.
function reply(text) {
  const lines = text.split("\n");
  const parts = lines.map((line) => line.split(" | "));
  if (lines.length < 2 || !/^[-+| ]{3,}$/.test(lines[1])) return make("div", text);
  let end = 2;
  while (end < lines.length && parts[end].length === parts[0].length && (parts[0].length > 1 || !/^\(/.test(lines[end]))) end += 1;
  const box = make("div");
  box.append(table(parts.slice(2, end), parts[0]), make("div", lines.slice(end).join("\n")));
  return box;
}

function said(event) {
  if (typeof event.data === "string") return event.data;
  if (event.data == null) return `[${words(event.action)}]`;
  const shown = typeof event.data === "object"
    ? Object.entries(event.data).map(([name, value]) => `${name}: ${named(value)}`).join(", ")
    : String(event.data);
  return `[${words(event.action)}] ${shown}`;
}

// One of a game's items in a line: "a, 3".
function named(item) {
  if (item == null) return "none";
  return typeof item === "object" ? Object.values(item).map(named).join(", ") : String(item);
}

function addLine(who, label, parts, kind, list = byId("events")) {
  const line = make("li", undefined, kind ? `${who} ${kind}` : who);
  line.append(make("span", label, "who"), ...parts);
  list.append(line);
  list.scrollTop = list.scrollHeight;
  return line;
}

function label(event) {
  const name = event.who === "house" ? "Study" : event.seat ?? (event.who === "you" ? "You" : "Partner");
  const isNamed = event.action === "message" || typeof event.data !== "string"; // `said` names all else
  return isNamed ? name : `${name} (${words(event.action)})`;
}

function addEvent(event, list = byId("events")) {
  if (event.who === "house") addLine("house", "Study", [make("span", `The talk was ended: ${event.data}.`)], "", list);
  else addLine(event.who, label(event), [make("span", said(event))], event.refused ? "refused" : "", list);
  if (event.reply != null) addLine("house", words(event.voice ?? "reply"), [reply(event.reply)], "", list);
}

function showTold(told, list = byId("events")) {
  byId("guide").textContent = told.guide ?? "";
  byId("knowledge").replaceChildren(knowledge(told.knowledge));
  byId("instruction").textContent = told.instruction ?? "";
  byId("details").open = !told.guide || told.knowledge == null;
  if (told.opening) addLine("partner", told.voice, [make("span", told.opening)], "", list);
}
