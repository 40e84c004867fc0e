"use strict";
// The list of a folder's runs, read again while they go on.

const ticked = [];
const compare = document.getElementById("compare");
let last = "";

compare.addEventListener("click", () => { location.href = address(ticked[0], ticked[1]); });

function address(one, other) {
  return "/run?" + new URLSearchParams(other ? { a: one, b: other } : { a: one });
}

function tick(name, is) {
  if (is) ticked.push(name);
  else ticked.splice(ticked.indexOf(name), 1);
  while (ticked.length > 2) ticked.shift();
  for (const box of document.querySelectorAll("#list input")) box.checked = ticked.includes(box.value);
  compare.disabled = ticked.length !== 2;
}

function line(run) {
  const box = el("input", { type: "checkbox", value: run.name, "aria-label": `Compare ${visible(run.name)}`, disabled: Boolean(run.error), onchange: (event) => tick(run.name, event.target.checked) });
  box.checked = ticked.includes(run.name);
  const name = run.error ? visible(run.name) : el("a", { href: address(run.name) }, visible(run.name));
  if (run.error) return el("tr", {}, el("td", {}, box), el("th", { scope: "row" }, name), el("td", { colspan: 5, class: "bad" }, visible(run.error)));
  const progress = run.done < run.expected ? el("progress", { max: run.expected, value: run.done, "aria-label": "Episodes finished" }) : "";
  const figure = run.figure ? [`${run.figure.title} ${figureText(run.figure)}, 95 % ${interval(run.figure, "tasks")} `, strip(run.figure)] : "";
  return el("tr", {}, el("td", {}, box), el("th", { scope: "row" }, name), el("td", {}, visible(run.game)), el("td", { dir: "auto" }, visible(run.agent)), el("td", {}, `${run.done} of ${run.expected} `, progress), el("td", {}, figure), el("td", { class: "number" }, run.cost ? `$${run.cost.toFixed(4)}` : "–"));
}

async function refresh() {
  try {
    const answer = await fetch("/data/runs");
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    if (text !== last) {
      last = text;
      const runs = JSON.parse(text);
      const focused = document.activeElement?.value;
      document.getElementById("list").replaceChildren(runs.length
        ? table("Runs, newest first", ["Compare", "Run", "Game", "Agent", "Episodes", "First figure", "Cost"], runs.map(line), { class: "runs" })
        : el("p", {}, "No run is here yet; this page shows one as soon as it begins."));
      if (focused) document.querySelector(`#list input[value="${CSS.escape(focused)}"]`)?.focus();
    }
  } catch (error) {
    document.getElementById("said").replaceChildren(visible(`The server does not answer: ${error.message}`));
  }
  setTimeout(refresh, 3000);
}

refresh();
