"use strict";
// The page of a corpus. All text of dialogues is set as text, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const STORE = `birdenv-notes-${DATA.key}`;
const PAGE = 50; // dialogues listed at a time
const SVG = "http://www.w3.org/2000/svg";
const VIEWS = { figures: "Figures", words: "Words and acts", ratings: "Ratings", dialogues: "Dialogues" };
const state = { view: "figures", filters: {}, least: 0, most: Infinity, text: "", marked: false, by: "", page: 0, open: -1 };
const chunks = new Map();
let notes = load();
let chosen = [];

// --- elements

function element(name, attributes = {}, ...inner) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inner);
  return made;
}

function drawn(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

function choice(title, names, value, change) {
  const select = element("select", { onchange: () => change(select.value) });
  for (const [key, shown] of names) select.append(element("option", { value: key, selected: key === value }, shown));
  return element("label", {}, title, select);
}

// --- figures, computed in Python

function shown(value, rate) {
  if (value === null || value === undefined) return "";
  return rate ? `${(100 * value).toFixed(1)} %` : Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3);
}

function interval(found, least, most) {
  const picture = drawn("svg", { width: 180, height: 14, role: "img" });
  const at = (value) => 4 + 172 * (most > least ? (value - least) / (most - least) : 0.5);
  picture.append(drawn("line", { x1: 0, x2: 180, y1: 7, y2: 7, stroke: "#d5dce3" }));
  if (found.low !== undefined) {
    picture.append(drawn("line", { x1: at(found.low), x2: at(found.high), y1: 7, y2: 7, stroke: "#2b6cb0", "stroke-width": 3 }));
  }
  if (found.value !== null) picture.append(drawn("circle", { cx: at(found.value), cy: 7, r: 4, fill: "#2b6cb0" }));
  return picture;
}

function measureRows(columns, groups) {
  const body = element("tbody");
  let heading = "";
  for (const measure of columns.measures) {
    const found = groups.flatMap(([name, figures]) => {
      const of = figures[measure.name];
      return of ? [[name, { count: of[0], value: of[1], low: of[2], high: of[3] }]] : [];
    });
    if (!found.length) continue;
    if (measure.group !== heading) {
      heading = measure.group;
      body.append(element("tr", { class: "head" }, element("th", { colspan: 5 }, heading)));
    }
    const ends = found.flatMap(([, of]) => [of.value, of.low ?? of.value, of.high ?? of.value]).filter((end) => end !== null);
    const least = measure.rate ? 0 : Math.min(...ends), most = measure.rate ? 1 : Math.max(...ends);
    found.forEach(([name, of], place) => {
      const range = of.low === undefined ? "" : `${shown(of.low, measure.rate)} .. ${shown(of.high, measure.rate)}`;
      body.append(element("tr", {},
        element("td", {}, place ? "" : measure.title), element("td", { class: "soft" }, groups.length > 1 ? name : ""),
        element("td", { class: "number" }, shown(of.value, measure.rate) || "not defined"),
        element("td", { class: "number" }, range),
        element("td", {}, interval(of, least, most)), element("td", { class: "number soft" }, `n ${of.count}`)));
    });
  }
  return body;
}

function histogram() {
  const counts = new Map();
  const { names, of } = DATA.dialogues.groups.outcome;
  const success = names.indexOf("success");
  for (const row of chosen) {
    const found = counts.get(DATA.moves[row]) || [0, 0];
    found[of[row] === success ? 0 : 1] += 1;
    counts.set(DATA.moves[row], found);
  }
  const longest = chosen.reduce((most, row) => Math.max(most, DATA.moves[row]), 1);
  const bin = Math.ceil((longest + 1) / 60), bars = new Map();
  for (const [moves, [good, bad]] of counts) {
    const found = bars.get(Math.floor(moves / bin)) || [0, 0];
    bars.set(Math.floor(moves / bin), [found[0] + good, found[1] + bad]);
  }
  const most = Math.max(1, ...[...bars.values()].map(([good, bad]) => good + bad));
  const picture = drawn("svg", { width: 660, height: 170, role: "img" });
  for (const [place, [good, bad]] of bars) {
    const x = 30 + place * 10, high = 130 * good / most, rest = 130 * bad / most;
    picture.append(drawn("rect", { x, y: 140 - high, width: 9, height: high, fill: "#2b6cb0" }));
    picture.append(drawn("rect", { x, y: 140 - high - rest, width: 9, height: rest, fill: "#b9c4cf" }));
  }
  picture.append(drawn("text", { x: 30, y: 160 }, "0 moves"), drawn("text", { x: 560, y: 160 }, `${bin * 60} moves`));
  picture.append(drawn("text", { x: 0, y: 20 }, String(most)));
  return element("div", {}, element("h3", {}, "Moves in a dialogue (blue: success)"), picture);
}

function prices() {
  const table = DATA.tables.prices;
  if (!Object.keys(table).length) return "";
  const picture = drawn("svg", { width: 360, height: 170, role: "img" });
  const y = (price) => 140 - 110 * Math.max(-0.1, Math.min(1.1, price));
  Object.entries(table).forEach(([role, parts], number) => {
    const colour = number ? "#b7791f" : "#2b6cb0";
    const points = parts.map(({ part, mean }) => `${30 + part * 30},${y(mean)}`).join(" ");
    picture.append(drawn("polyline", { points, fill: "none", stroke: colour, "stroke-width": 2 }));
    picture.append(drawn("text", { x: 290, y: 60 + 20 * number, fill: colour }, role));
  });
  picture.append(drawn("text", { x: 0, y: 144 }, "0"), drawn("text", { x: 0, y: 34 }, "1"));
  picture.append(drawn("text", { x: 30, y: 164 }, "begin"), drawn("text", { x: 275, y: 164 }, "end"));
  const title = "Prices named in all dialogues (0: buyer's target, 1: seller's target)";
  return element("div", {}, element("h3", {}, title), picture);
}

function showFigures(view) {
  const kinds = Object.keys(DATA.dialogues.figures).filter(Boolean);
  view.append(choice("Group by ", [["", "nothing"], ...kinds.map((kind) => [kind, kind])], state.by, (value) => { state.by = value; draw(); }));
  view.append(element("div", { class: "columns" }, histogram(), prices()));
  view.append(element("h2", {}, "Dialogues"));
  view.append(element("table", { id: "dialogue-figures" }, measureRows(DATA.dialogues, DATA.dialogues.figures[state.by])));
  view.append(element("h2", {}, "Seats"));
  view.append(element("table", { id: "seat-figures" }, measureRows(DATA.seats, DATA.seats.figures[state.by || "seat"] || DATA.seats.figures[""])));
  view.append(element("p", { class: "soft" }, "These statistics cover all dialogues, regardless of the filters. 95 % intervals over scenarios: Wilson's for rates of scenarios played once, and for rates of 0 and 1; otherwise bootstrap. n is the number of dialogues or seats."));
}

// --- words, ratings

function pairs(title, rows) {
  const body = rows.map(([name, number]) => element("tr", {}, element("td", {}, name),
    element("td", { class: "number" }, Number.isInteger(number) ? String(number) : number.toFixed(4))));
  return element("div", {}, element("h3", {}, title), element("table", {}, ...body));
}

function numbersOf(table) {
  return Object.entries(table).filter(([, value]) => typeof value === "number").map(([name, value]) => [name.replaceAll("_", " "), value]);
}

function showWords(view) {
  view.append(element("p", { class: "soft" }, "These figures are about all dialogues, regardless of the filters."));
  const { text, acts } = DATA.tables;
  for (const [kind, groups] of Object.entries(text)) {
    if (kind === "characteristic" || kind === "by_act") continue;
    for (const [name, table] of Object.entries(groups)) {
      view.append(element("h2", {}, name));
      const lists = ["top_words", "top_bigrams", "top_trigrams", "top_templates"].map((list) => pairs(list.replaceAll("_", " "), table[list]));
      const own = (text.characteristic[kind] || {})[name];
      if (own && own.length) lists.push(pairs("characteristic words (tf-idf)", own));
      view.append(element("div", { class: "columns" }, pairs("numbers", numbersOf(table)), ...lists));
    }
  }
  view.append(element("h2", {}, "Perplexity of messages by act"));
  view.append(pairs("", Object.entries(text.by_act).map(([name, of]) => [`${name} (${of.messages})`, of.trigram_perplexity ?? NaN])));
  for (const [name, table] of [["Acts of all", acts.all], ...Object.entries(acts.by_seat)]) {
    view.append(element("h2", {}, name));
    view.append(element("div", { class: "columns" }, pairs("numbers", numbersOf(table)), pairs("acts", table.acts),
      pairs("pairs of acts", table.pairs), pairs("sequences", table.sequences)));
  }
}

function told(found, digits = 3) {
  if (!found || found.value === null) return `not defined: ${found ? found.why : ""}`;
  const range = found.interval_95 ? ` [${found.interval_95.map((end) => end.toFixed(digits)).join(", ")}]` : "";
  return `${found.value.toFixed(digits)}${range}${found.why ? ` (${found.why})` : ""}`;
}

function lines(rows) {
  return element("table", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, String(cell))))));
}

function showRatings(view) {
  if (!DATA.ratings) { view.append(element("p", {}, "There are no ratings.")); return; }
  for (const [name, of] of Object.entries(DATA.ratings.questions)) {
    view.append(element("h2", {}, name), lines([
      ["ratings", `${of.ratings} of ${of.dialogues} dialogues by ${of.raters} raters`],
      ["answers", Object.entries(of.answers).map(([value, count]) => `${value}: ${count}`).join(", ")],
      ["mean, over dialogues", told(of.mean.over_dialogues)], ["mean, over raters", told(of.mean.over_raters)],
      [`alpha (${of.krippendorff_alpha.level})`, told(of.krippendorff_alpha)], ["Fleiss' kappa", told(of.fleiss_kappa)],
      ...Object.entries(of.systems).map(([system, mean]) => [system, told(mean)])]));
  }
  const ranking = DATA.ratings.ranking;
  if (ranking) {
    view.append(element("h2", {}, "Ranking"), lines([["", "won", "lost", "tied", "rank", "strength"],
      ...ranking.players.map((each) => [each.player, each.wins, each.losses, each.ties, told(each.rank, 0), told(each.strength, 2)])]));
  }
  if (DATA.correlations.length) {
    view.append(element("h2", {}, "Ratings and measures (Pearson's r)"));
    view.append(lines(DATA.correlations.slice(0, 60).map((each) => [each.question, each.measure, told(each), `n ${each.n}`])));
  }
}

// --- dialogues, notes and tags

function dialogue(row) {
  const number = Math.floor(row / DATA.chunk);
  if (!chunks.has(number)) {
    if (chunks.size > 20) chunks.delete(chunks.keys().next().value);
    chunks.set(number, JSON.parse(document.getElementById(`chunk-${number}`).textContent));
  }
  return chunks.get(number)[row % DATA.chunk];
}

function load() {
  try { return JSON.parse(localStorage.getItem(STORE)) || {}; } catch { return {}; }
}

function keep(id, turn, note, tags) {
  const key = `${id}\n${turn}`;
  if (note || tags.length) notes[key] = { dialogue: id, turn, note, tags };
  else delete notes[key];
  try { localStorage.setItem(STORE, JSON.stringify(notes)); } catch { /* a private window: the download has them */ }
}

function tagsOf(id) {
  return [...new Set(Object.values(notes).filter((each) => each.dialogue === id).flatMap((each) => each.tags))];
}

function noteForm(id, turn) {
  const found = notes[`${id}\n${turn}`] || { note: "", tags: [] };
  const words = element("textarea", { placeholder: "note", "aria-label": "note" });
  words.value = found.note;
  const tags = element("input", { placeholder: "tags, by commas", "aria-label": "tags", list: "known-tags" });
  tags.value = found.tags.join(", ");
  const change = () => keep(id, turn, words.value.trim(), tags.value.split(",").map((tag) => tag.trim()).filter(Boolean));
  for (const field of [words, tags]) field.addEventListener("input", change);
  return element("div", { class: "note" }, tags, words);
}

function download() {
  const text = JSON.stringify(Object.values(notes), null, 1);
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "notes.json" });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function readNotes(file) {
  try {
    for (const each of JSON.parse(await file.text())) keep(String(each.dialogue), Number(each.turn), String(each.note || ""), (each.tags || []).map(String));
    draw();
  } catch { alert("This is not a file of notes."); }
}

function dataOf(action, data) {
  if (data === null || data === undefined) return element("p", {}, `[${action}]`);
  if (typeof data !== "string") return element("p", {}, `[${action}] ${JSON.stringify(data)}`);
  return action.endsWith("_sql") ? element("pre", {}, data) : element("p", {}, data);
}

function turnOf(id, seats, event, number) {
  const [seat, time, action, data, reply, sender, refused] = event;
  const made = element("article", { class: `turn seat${seat}${refused ? " refused" : ""}` });
  made.append(element("div", { class: "soft" }, `${number}. ${seats[seat] || "the house"}, ${action}${refused ? ", refused" : ""}, ${time}`));
  made.append(dataOf(action, data));
  if (reply) made.append(element("pre", { class: "reply" }, `${sender || "reply"}: ${reply}`));
  const has = notes[`${id}\n${number}`];
  if (has) made.append(noteForm(id, number));
  else {
    const open = element("button", { onclick: () => open.replaceWith(noteForm(id, number)) }, "note");
    made.append(open);
  }
  return made;
}

function showDialogue(row) {
  const made = element("div", { id: "dialogue" });
  if (row < 0) { made.append(element("p", { class: "soft" }, "Choose a dialogue.")); return made; }
  const id = DATA.ids[row], found = dialogue(row);
  made.append(element("h2", {}, id));
  made.append(element("p", {}, found.seats.map((seat, number) => `${seat}: ${found.players[number]}`).join(" · ")));
  for (const [name, value] of Object.entries(found.about)) {
    if (name === "kbs" && value) {
      value.forEach((kb, seat) => made.append(element("details", {}, element("summary", {}, `What ${found.seats[seat]} knows`),
        element("pre", {}, JSON.stringify(kb, null, 1)))));
    } else if (value) made.append(element("p", {}, `${name}: ${value}`));
  }
  made.append(noteForm(id, 0));
  found.events.forEach((event, place) => made.append(turnOf(id, found.seats, event, place + 1)));
  made.append(element("pre", { class: "soft" }, JSON.stringify(found.outcome)));
  if (Object.keys(found.surveys).length) made.append(element("pre", { class: "soft" }, JSON.stringify(found.surveys, null, 1)));
  return made;
}

function showDialogues(view) {
  const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
  state.page = Math.min(state.page, pages - 1);
  const list = element("ol", { class: "list" });
  const { outcome, players } = DATA.dialogues.groups;
  for (const row of chosen.slice(state.page * PAGE, (state.page + 1) * PAGE)) {
    const id = DATA.ids[row];
    const told = `${outcome.names[outcome.of[row]]} · ${DATA.moves[row]} moves · ${players.names[players.of[row]]}`;
    const button = element("button", { "aria-current": row === state.open, onclick: () => { state.open = row; draw(); } },
      id, element("br"), element("span", { class: "soft" }, told), " ", ...tagsOf(id).map((tag) => element("span", { class: "tag" }, tag)));
    list.append(element("li", {}, button));
  }
  const turn = (by) => element("button", { onclick: () => { state.page = Math.max(0, Math.min(pages - 1, state.page + by)); draw(); } }, by < 0 ? "‹ earlier" : "later ›");
  const file = element("input", { type: "file", accept: "application/json", "aria-label": "Load notes", onchange: () => readNotes(file.files[0]) });
  const known = [...new Set(Object.values(notes).flatMap((each) => each.tags))].sort();
  view.append(element("datalist", { id: "known-tags" }, ...known.map((tag) => element("option", { value: tag }))));
  view.append(element("p", {}, element("button", { onclick: download }, "Download notes"), " Load notes: ", file));
  view.append(element("div", { class: "browser" },
    element("div", {}, element("p", {}, turn(-1), ` page ${state.page + 1} of ${pages} `, turn(1)), list), showDialogue(state.open)));
}

// --- filters

function matches(row) {
  const { groups } = DATA.dialogues;
  for (const [kind, number] of Object.entries(state.filters)) if (groups[kind].of[row] !== number) return false;
  if (DATA.moves[row] < state.least || DATA.moves[row] > state.most) return false;
  if (state.marked && !state.marks.has(DATA.ids[row])) return false;
  if (!state.text) return true;
  if (DATA.ids[row].toLowerCase().includes(state.text)) return true;
  return JSON.stringify(dialogue(row).events).toLowerCase().includes(state.text);
}

function choose() {
  state.marks = new Set(Object.values(notes).map((each) => each.dialogue));
  chosen = DATA.ids.map((_, row) => row).filter(matches);
  state.page = 0;
  draw();
}

function showFilters() {
  const bar = document.getElementById("filters");
  for (const [kind, { names }] of Object.entries(DATA.dialogues.groups)) {
    if (names.length < 2 || names.length > 300) continue;
    const set = (value) => { if (value === "") delete state.filters[kind]; else state.filters[kind] = Number(value); choose(); };
    bar.append(choice(kind, [["", "any"], ...names.map((name, number) => [String(number), name || "none"])], "", set));
  }
  const limit = (title, change) => element("label", {}, title, element("input", { type: "number", min: 0, onchange: (event) => { change(event.target.value); choose(); } }));
  bar.append(limit("moves from", (value) => { state.least = value === "" ? 0 : Number(value); }));
  bar.append(limit("to", (value) => { state.most = value === "" ? Infinity : Number(value); }));
  bar.append(element("label", {}, "with these words", element("input", { type: "search", id: "words", onchange: (event) => { state.text = event.target.value.toLowerCase(); choose(); } })));
  bar.append(element("label", {}, "with notes", element("input", { type: "checkbox", onchange: (event) => { state.marked = event.target.checked; choose(); } })));
}

function draw() {
  const nav = document.getElementById("views");
  nav.replaceChildren(...Object.entries(VIEWS).map(([name, title]) => element("button",
    { "aria-current": name === state.view, onclick: () => { state.view = name; draw(); } }, title)));
  document.getElementById("chosen").textContent = `${chosen.length} of ${DATA.ids.length} dialogues`;
  const view = document.getElementById("view");
  view.replaceChildren();
  ({ figures: showFigures, words: showWords, ratings: showRatings, dialogues: showDialogues })[state.view](view);
}

showFilters();
choose();
