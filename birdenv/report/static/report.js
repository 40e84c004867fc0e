"use strict";
// The page about one run or two: overview, list of episodes, and one episode at a time (by the address's hash).

const main = document.getElementById("main");
const PAGE = 100;
const LETTERS = ["A", "B"];
const query = new URLSearchParams(location.search);
const filters = { text: "", outcome: "", fault: "", database: "", differs: false, sort: "place", down: false, count: PAGE };
const inside = document.getElementById("overview");
let runs = [];
let tasks = [];

/** Data stand in the page, or come from the server of `birdenv view`. */
async function data(id) {
  if (inside) return JSON.parse(document.getElementById(id).textContent);
  const answer = await fetch(`/data/${id}?${query}`);
  if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
  return answer.json();
}

async function start() {
  try {
    await load();
  } catch (error) {
    main.querySelector(".problem[role]")?.remove();
    main.append(el("p", { class: "problem", role: "alert" }, visible(error.message)));
    if (!inside) setTimeout(start, 3000);  // a run may have no episode yet
    return;
  }
  addEventListener("hashchange", () => show(true));
  addEventListener("keydown", keys);
  show(false);
  if (!inside) follow();
}

async function load() {
  runs = await data("overview");
  const places = new Map();
  runs.forEach((run, number) => run.rows.forEach((row, place) => {
    const task = places.get(row.name) ?? { name: row.name, of: [], at: [], place: places.size };
    task.of[number] = row;
    task.at[number] = place;
    places.set(row.name, task);
  }));
  tasks = [...places.values()];
}

/** While a run goes on, its figures are read again. */
function follow() {
  setTimeout(async () => {
    if (runs.some((run) => run.done < run.expected)) {
      try {
        const before = JSON.stringify(runs);
        await load();
        if (!location.hash.startsWith("#/") && JSON.stringify(runs) !== before) keepingPlace(() => show(false));
      } catch { /* the server has ended, or will answer again */ }
    }
    follow();
  }, 3000);
}

/** Make the page anew, and leave the focus and what is open as they were. */
function keepingPlace(make) {
  const focused = document.activeElement;
  const selector = focused.id ? `#${CSS.escape(focused.id)}` : focused.href ? `a[href="${CSS.escape(focused.getAttribute("href"))}"]` : null;
  const [start, open] = [focused.selectionStart, main.querySelector("details")?.open];
  make();
  if (open) main.querySelector("details").open = true;
  const again = selector && document.querySelector(selector);
  again?.focus({ preventScroll: true });
  if (again && typeof start === "number") again.setSelectionRange(start, start);
}

function show(moved) {
  const name = location.hash.startsWith("#/") ? decodeURIComponent(location.hash.slice(2)) : null;
  const task = tasks.find((each) => each.name === name);
  if (task) episode(task);
  else overview();
  if (moved) { scrollTo(0, 0); main.focus(); }
}

function keys(event) {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && location.hash) location.hash = "";
  const link = document.querySelector({ j: "a[rel=next]", k: "a[rel=prev]" }[event.key] ?? "_");
  if (link) link.click();
  if (event.key === "/" && document.getElementById("filter-text")) { event.preventDefault(); document.getElementById("filter-text").focus(); }
}

/** Show these parts, some of which may be lists of parts or empty, and nothing else. */
function fill(...parts) { main.replaceChildren(...parts.flat().filter((part) => part !== "")); }

function title(run, number) {
  return (runs.length > 1 ? `${LETTERS[number]} · ` : "") + visible(run.agent);
}

function banner() {
  return runs.some((run) => run.private) ? el("p", { class: "private", role: "note" }, "PRIVATE: this page holds golds and what was meant. Keep it from agents.") : "";
}

function overview() {
  const figures = runs[0].figures.map((first, place) => {
    const found = runs.map((run) => run.figures.find((each) => each.title === first.title) ?? run.figures[place]);
    const cells = found.map((of) => el("td", {}, of ? [figureText(of), el("div", { class: "interval" }, intervals(of))] : "–"));
    return el("tr", {}, el("th", { scope: "row" }, visible(first.title)), cells, el("td", {}, found.map((of, number) => (of ? strip(of, number) : ""))));
  });
  fill(
    el("h1", {}, visible(`${runs[0].game}: ${runs.map((run) => run.agent).join(" and ")}`)),
    inside ? "" : el("nav", { "aria-label": "Runs" }, el("a", { href: "/" }, "All runs")),
    banner(),
    runs.map(about),
    el("h2", {}, "Figures"),
    table("Figures, and below each its 95 % interval over tasks", ["", ...runs.map(title), ""], figures, { class: "figures" }),
    el("div", { class: "columns" }, runs.map(further)),
    runs[0].groups.length ? el("details", {}, el("summary", {}, "By group of tasks"), runs.map(groups)) : "",
    el("h2", { id: "episodes" }, "Episodes"),
    controls(),
    el("div", { id: "list" }),
  );
  list();
}

function intervals(figure) {
  const over = figure.databases ? `; over databases ${interval(figure, "databases")}` : "";
  return figure.tasks ? interval(figure, "tasks") + over : "–";
}

function about(run, number) {
  const state = run.done < run.expected ? `${run.done} of ${run.expected} episodes so far` : `${run.done} episodes`;
  const settings = Object.entries(run.settings).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  const live = run.done < run.expected ? el("progress", { max: run.expected, value: run.done, "aria-label": "Episodes finished" }) : "";
  return el("div", {}, el("p", { class: "about" }, visible([title(run, number), run.folder, `seed ${run.seed}`, state, ...settings].join(" · "))), live, run.notes.map((note) => el("p", { class: "note" }, visible(note))));
}

function further(run, number) {
  const statuses = Object.entries(run.statuses).map(([name, count]) => [`Status: ${name.replaceAll("_", " ")}`, count]);
  return el("section", { "aria-label": title(run, number) },
    runs.length > 1 ? el("h3", {}, title(run, number)) : "",
    run.blame ? shares("Whose fault the failures were", run.blame) : "",
    el("dl", {}, [...run.facts, ...statuses].map(([name, value]) => [el("dt", {}, visible(name)), el("dd", {}, visible(value))])));
}

function groups(run, number) {
  return el("div", {}, run.groups.map((group) => table(`${title(run, number)}: ${group.title}`, ["", "", "95 % over tasks", ""], group.rows.map((row) => [row.name, figureText(row), interval(row, "tasks"), strip(row, number)]))));
}

function options(label, key, values) {
  const found = [...new Set(values.filter((value) => value !== undefined))].sort();
  if (found.length < 2) return "";
  const box = el("select", { onchange: (event) => { filters[key] = event.target.value; again(); } }, el("option", { value: "" }, "all"), found.map((value) => el("option", { value, selected: filters[key] === value }, visible(value).replaceAll("_", " "))));
  return el("label", {}, label + " ", box);
}

function controls() {
  const rows = tasks.flatMap((task) => task.of.filter(Boolean));
  const text = el("input", { type: "search", id: "filter-text", value: filters.text, placeholder: "name or words", oninput: (event) => { filters.text = event.target.value; again(); } });
  const differs = el("input", { type: "checkbox", onchange: (event) => { filters.differs = event.target.checked; again(); } });
  differs.checked = filters.differs;
  return el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    el("label", {}, "Search ", text),
    options("Outcome", "outcome", rows.map((row) => row.verdict)),
    options("Fault", "fault", rows.map((row) => row.fault)),
    options("Database", "database", rows.map((row) => row.database)),
    runs.length > 1 ? el("label", {}, differs, " differs from the other run") : "",
    el("output", { id: "count", "aria-live": "polite" }));
}

function again() { filters.count = PAGE; list(); }

function differs(task) {
  const [one, other] = task.of;
  return !one || !other || one.verdict !== other.verdict || one.reward !== other.reward || String(one.phases) !== String(other.phases);
}

function matches(task) {
  const text = filters.text.toLowerCase();
  return task.of.some((row) => row
    && (!filters.outcome || row.verdict === filters.outcome)
    && (!filters.fault || row.fault === filters.fault)
    && (!filters.database || row.database === filters.database)
    && (!text || row.name.toLowerCase().includes(text) || (row.request ?? "").toLowerCase().includes(text)))
    && (!filters.differs || differs(task));
}

const COLUMNS = [
  ["place", "Episode", (row) => row.place],
  ["verdict", "Outcome", (row) => row.verdict],
  ["phases", "Attempts", (row) => (row.phases ?? []).map((passed) => (passed ? "✓" : "✗")).join(" ")],
  ["reward", "Reward", (row) => row.reward],
  ["questions", "Questions", (row) => row.questions],
  ["turns", "Events", (row) => row.turns],
  ["tokens", "Tokens", (row) => row.tokens],
  ["cost", "Cost", (row) => row.cost],
  ["fault", "Fault", (row) => row.fault],
  ["database", "Database", (row) => row.database],
  ["difficulty", "Difficulty", (row) => row.difficulty],
];

function chosen() {
  const found = tasks.filter(matches);
  const key = COLUMNS.find(([name]) => name === filters.sort)[2];
  const value = (task) => (filters.sort === "place" ? task.place : key(task.of.find(Boolean)));
  const order = (one, other) => (one === undefined) - (other === undefined) || (one < other ? -1 : one > other ? 1 : 0);
  if (filters.sort !== "place" || filters.down) found.sort((a, b) => (filters.down ? -1 : 1) * order(value(a), value(b)) || a.place - b.place);
  return found;
}

function list() {
  const found = chosen();
  const used = COLUMNS.filter(([name, , key]) => name === "place" || tasks.some((task) => task.of.some((row) => row && key(row) !== undefined && key(row) !== "")));
  const head = el("tr", {}, used.map(([name, label]) => el("th", { scope: "col", "aria-sort": filters.sort !== name ? "none" : filters.down ? "descending" : "ascending" }, el("button", { type: "button", class: "sort", "data-sort": name, onclick: () => sort(name) }, label, el("span", { "aria-hidden": "true" }, filters.sort === name ? (filters.down ? " ▼" : " ▲") : "")))), el("th", { scope: "col" }, "Request"));
  const body = found.slice(0, filters.count).flatMap((task) => task.of.map((row, number) => row && line(task, row, number, used)).filter(Boolean));
  document.getElementById("count").replaceChildren(`${found.length} of ${tasks.length}`);
  const rest = found.length - filters.count;
  document.getElementById("list").replaceChildren(
    el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Episodes" }, el("table", { class: "episodes" }, el("caption", {}, "Episodes of the run"), el("thead", {}, head), el("tbody", {}, body))),
    rest > 0 ? el("button", { type: "button", onclick: () => { filters.count += 5 * PAGE; list(); } }, `Show more (${rest} left)`) : "",
  );
}

function sort(name) {
  filters.down = filters.sort === name ? !filters.down : false;
  filters.sort = name;
  list();
  document.querySelector(`[data-sort=${name}]`).focus();
}

function line(task, row, number, used) {
  const cells = used.map(([name, , key]) => {
    if (name === "place") return el("th", { scope: "row" }, el("a", { href: address(task) }, (runs.length > 1 ? LETTERS[number] + " " : "") + visible(row.name)));
    const value = key(row) ?? "";
    if (name === "verdict") return el("td", {}, verdict(value));
    const text = name === "questions" && row.allowed !== undefined ? `${value} of ${row.allowed}` : name === "cost" && value !== "" ? `$${value.toFixed(4)}` : typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 3 }) : visible(value);
    return el("td", { class: typeof value === "number" ? "number" : null }, text);
  });
  const first = task.of.findIndex(Boolean);
  const request = el("td", { class: "request", dir: "auto", rowspan: task.of.filter(Boolean).length }, el("span", {}, visible(row.request ?? "")));
  return el("tr", { class: runs.length > 1 && differs(task) ? "differs" : null }, cells, number === first ? request : "");
}

function address(task) { return "#/" + encodeURIComponent(task.name); }

function verdict(word) {
  const good = ["passed", "completed"].includes(word);
  return el("span", { class: good ? "good" : "bad" }, (good ? "✓ " : "✗ ") + visible(word).replaceAll("_", " "));
}

start();
