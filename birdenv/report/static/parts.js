"use strict";
// Parts of pages about runs. Text of others goes into pages as text, never as HTML.

const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const SHORT = 1500;

/** Spell out characters that give commands (controls, changes of direction). */
function visible(text) {
  return String(text).replace(COMMANDS, (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Make an element: attributes, `on...` listeners, and children (elements or text). */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Words of others: in their own direction; long ones open on request. */
function words(text, tag = "p") {
  const whole = visible(text);
  if (whole.length <= SHORT) return el(tag, { class: "words", dir: "auto" }, whole);
  const box = el(tag, { class: "words", dir: "auto" }, whole.slice(0, SHORT) + "…");
  return el("div", {}, box, more(whole.length, () => box.replaceChildren(whole)));
}

function more(length, open) {
  const label = `Show all ${length.toLocaleString("en")} characters`;
  return el("button", { type: "button", class: "quiet", onclick: (event) => { open(); event.target.remove(); } }, label);
}

const SQL = new RegExp(
  [
    "(?<comment>--[^\\n]*|/\\*[^]*?(?:\\*/|$))",
    "(?<string>'(?:[^']|'')*(?:'|$))",
    '(?<name>"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$))',
    "(?<number>\\b\\d+(?:\\.\\d+)?\\b)",
    "(?<keyword>\\b(?:SELECT|FROM|WHERE|GROUP|ORDER|BY|HAVING|LIMIT|OFFSET|JOIN|LEFT|RIGHT|INNER|OUTER|FULL|CROSS" +
      "|ON|USING|AS|AND|OR|NOT|IN|IS|NULL|LIKE|BETWEEN|EXISTS|CASE|WHEN|THEN|ELSE|END|UNION|ALL|EXCEPT|INTERSECT" +
      "|DISTINCT|WITH|RECURSIVE|OVER|PARTITION|INSERT|INTO|VALUES|UPDATE|SET|DELETE|CREATE|TABLE|VIEW|INDEX|DROP" +
      "|ALTER|ADD|CAST|ASC|DESC|COUNT|SUM|AVG|MIN|MAX|COALESCE)\\b)",
  ].join("|"),
  "gi",
);

/** SQL with its tokens coloured. */
function sql(text) {
  const whole = visible(text);
  const code = el("code", {});
  const fill = (part) => {
    code.replaceChildren();
    let last = 0;
    for (const found of part.matchAll(SQL)) {
      code.append(part.slice(last, found.index));
      const [kind] = Object.entries(found.groups).find(([, value]) => value !== undefined);
      code.append(el("span", { class: "sql-" + kind }, found[0]));
      last = found.index + found[0].length;
    }
    code.append(part.slice(last));
  };
  const box = el("pre", { class: "sql", tabindex: "0", role: "region", "aria-label": "SQL" }, code);
  if (whole.length <= SHORT) { fill(whole); return box; }
  fill(whole.slice(0, SHORT) + "…");
  return el("div", {}, box, more(whole.length, () => fill(whole)));
}

/** A table that scrolls in its own box. */
function table(caption, columns, rows, attributes = {}) {
  const head = el("tr", {}, columns.map((name) => el("th", { scope: "col" }, visible(name) || "\u00a0")));
  const body = rows.map((row) => (row instanceof Element ? row : el("tr", {}, row.map((cell) => el("td", { dir: "auto" }, shown(cell))))));
  const made = el("table", attributes, caption ? el("caption", {}, caption) : null, el("thead", {}, head), el("tbody", {}, body));
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption || "Table" }, made);
}

function shown(cell) {
  if (cell instanceof Element) return cell;
  return cell === null || cell === undefined ? el("span", { class: "null" }, "NULL") : visible(cell);
}

function percent(value) {
  return (100 * value).toFixed(1) + " %";
}

/** A figure as text: a rate in percent, another to three digits. */
function figureText(figure) {
  if (figure.value === null) return "–";
  if (figure.rate) return `${percent(figure.value)} (${figure.passed}/${figure.count})`;
  return figure.value.toLocaleString("en", { maximumFractionDigits: 3 });
}

function interval(figure, over) {
  const found = figure[over];
  if (!found) return "–";
  return figure.rate ? `${(100 * found[0]).toFixed(1)} to ${(100 * found[1]).toFixed(1)} %` : found.map((end) => end.toLocaleString("en", { maximumFractionDigits: 3 })).join(" to ");
}

/** A figure drawn on its scale: the interval over tasks thick, over databases thin. */
function strip(figure, run = 0) {
  const low = figure.least ?? 0;
  if (figure.value === null || figure.most === null || figure.most - low > 1e3) return "";
  const at = (value) => 4 + (152 * (value - low)) / (figure.most - low);
  const made = svg("svg", { viewBox: "0 0 160 16", width: 160, height: 16, class: `strip run-${run}`, role: "img", "aria-label": `${figureText(figure)}, 95 % interval ${interval(figure, "tasks")}` });
  made.append(svg("line", { x1: 4, x2: 156, y1: 8, y2: 8, class: "scale" }));
  for (const [over, kind] of [["databases", "thin"], ["tasks", "thick"]]) {
    if (figure[over]) made.append(svg("line", { x1: at(figure[over][0]), x2: at(figure[over][1]), y1: 8, y2: 8, class: kind }));
  }
  made.append(svg("circle", { cx: at(figure.value), cy: 8, r: 4 }));
  return made;
}

/** A bar of shares, each named below it. */
function shares(title, counts) {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (!total) return "";
  const bar = svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "shares", role: "img", "aria-label": title });
  let left = 0;
  Object.values(counts).forEach((count, place) => {
    bar.append(svg("rect", { x: left, y: 0, width: (100 * count) / total, height: 8, class: `share-${place}` }));
    left += (100 * count) / total;
  });
  const names = Object.entries(counts).map(([name, count], place) => el("li", { class: `share-${place}` }, `${name}: ${count}`));
  return el("figure", {}, el("figcaption", {}, title), bar, el("ul", { class: "legend" }, names));
}
