"use strict";
// Lines of a conversation and the panels beside it, for all pages that show them. It needs parts.js. All text is
// inserted as text: nothing here writes HTML.

const byId = (id) => document.getElementById(id);

/** A reply that is a table of text ("a | b" under a rule), or has a record of JSON on each line, is shown as a table. */
function reply(text) {
  const lines = text.split("\n");
  const records = lines.map(recordOf);
  const count = records.indexOf(null) < 0 ? lines.length : records.indexOf(null);
  if (count) {
    const names = [...new Set(records.slice(0, count).flatMap(Object.keys))];
    const rows = records.slice(0, count).map((record) => names.map((name) => record[name]));
    return [table("", names, rows), words(lines.slice(count).join("\n"))];
  }
  const parts = lines.map((line) => line.split(" | "));
  if (lines.length < 2 || !/^[-+| ]{3,}$/.test(lines[1])) return words(text, /\n.*\S {2,}\S/.test(text) ? "pre" : "p");
  let end = 2;
  while (end < lines.length && parts[end].length === parts[0].length && (parts[0].length > 1 || !/^\(/.test(lines[end]))) end += 1;
  return [table("Result", parts[0], parts.slice(2, end)), words(lines.slice(end).join("\n"))];
}

function recordOf(line) {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** What was said or done: words, code, or a sentence about it. */
function said(event) {
  if (event.data === "") return el("p", { class: "act" }, "(nothing)");
  if (typeof event.data === "string" && event.who !== "house") return event.is_code ? sql(event.data) : words(event.data);
  return el("p", { class: "act", dir: "auto" }, visible(event.said ?? ""));
}

function addLine(who, name, parts, list = byId("events")) {
  const line = el("li", { class: who }, el("span", { class: "who" }, visible(name)), parts);
  list.append(line);
  list.parentElement.scrollTop = list.parentElement.scrollHeight;
  return line;
}

function addEvent(event, list = byId("events")) {
  const name = event.seat || event.name;
  const did = event.refused ? `${event.done ?? ""} (not done)` : event.done ?? "";
  addLine(event.refused ? `${event.who} refused` : event.who, `${name} ${did}`.trim(), said(event), list);
  if (event.reply != null) addLine("house", event.voice ?? "", reply(event.reply), list);
}

function addOpening(told, list = byId("events")) {
  if (told.opening) addLine("partner", told.voice, words(told.opening), list);
}

/** Return the panels of a seat: the guide, and what the seat knows. */
function panelsOf(told) {
  const guide = { title: "What to do", text: told.guide, rows: [], tables: [], entries: [], columns: [] };
  return [...(told.guide ? [guide] : []), ...(told.panels ?? [])];
}

function panel(part) {
  const tables = part.tables.map((each) => {
    const rows = each.columns.map(([name, type, meaning]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, type), el("td", { class: "meaning", dir: "auto" }, meaning)));
    const count = each.columns.length ? `${each.columns.length} columns` : "";
    const sample = each.sample ? el("pre", { tabindex: "0", role: "region", "aria-label": `First rows of ${each.name}` }, visible(each.sample)) : "";
    return folded(each.name, count, [each.columns.length ? table("", ["Column", "Type", "Meaning"], rows) : "", sample], rows);
  });
  const entries = part.entries.map(([name, text]) => folded(name, "", [words(text)], []));
  return el("details", { class: "panel", open: true },
    el("summary", {}, el("h2", {}, visible(part.title))),
    part.text ? words(part.text) : "",
    part.rows.length ? table("", part.columns, part.rows) : "",
    tables.length ? browser(part.title, tables) : "",
    entries.length ? browser(part.title, entries) : "");
}

function folded(name, count, body, rows) {
  const made = el("details", {}, el("summary", {}, el("strong", {}, visible(name)), count ? el("span", { class: "about" }, ` ${count}`) : ""), body);
  return { made, rows, name: name.toLowerCase(), text: made.textContent.toLowerCase() };
}

/** Show a list of folded parts; a few are open at once, and many can be searched. */
function browser(title, items) {
  const few = items.length <= 4 && items.every((item) => !item.rows.length);
  for (const { made } of items) made.open = few;
  if (few) return items.map((item) => item.made);
  const found = el("p", { class: "about", role: "status" });
  const search = el("input", { type: "search", placeholder: "Search", "aria-label": `Search in: ${title}` });
  search.addEventListener("input", () => {
    const asked = search.value.trim().toLowerCase();
    let count = 0;
    for (const { made, rows, name, text } of items) {
      made.hidden = !text.includes(asked);
      made.open = asked !== "" && !made.hidden;
      for (const row of rows) row.hidden = !name.includes(asked) && !row.textContent.toLowerCase().includes(asked);
      if (!made.hidden) count += 1;
    }
    found.textContent = asked === "" ? "" : count === 0 ? "Nothing was found." : `Found in ${count} of ${items.length}.`;
  });
  return [search, found, items.map((item) => item.made)];
}
