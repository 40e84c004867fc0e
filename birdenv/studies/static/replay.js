"use strict";
// Show a recorded dialogue step by step, as a seat saw it. It needs lines.js.

let record = null;

function chosenView() {
  return record.views[Number(byId("view").value)];
}

/** Draw the log up to the slider: `at` is the position in the log at which the seat saw a line. */
function draw() {
  const at = Number(byId("slider").value);
  byId("place").textContent = `${at} of ${record.count}`;
  byId("events").replaceChildren();
  addOpening(chosenView().told);
  for (const line of chosenView().lines) if (line.at <= at) addEvent(line);
  byId("line").textContent = at === 0 ? "Nothing has happened yet. Press Forward." : at === record.count ? record.end : "";
  byId("back").disabled = at === 0;
  byId("forth").disabled = at === record.count;
}

function drawSide() {
  const { told } = chosenView();
  const parts = panelsOf(told);
  if (told.instruction) parts.push({ title: "What a program in this seat is told", text: told.instruction, rows: [], columns: [], tables: [], entries: [] });
  byId("side").replaceChildren(...parts.map(panel));
  if (told.instruction) byId("side").lastChild.open = false;
  if (record.private !== null) byId("side").append(el("details", { class: "panel secret" }, el("summary", {}, el("h2", {}, "Private record")), el("pre", { tabindex: "0" }, JSON.stringify(record.private, null, 2))));
  byId("side").hidden = byId("side").childElementCount === 0;
  draw();
}

function step(by) {
  byId("slider").value = Number(byId("slider").value) + by;
  draw();
}

async function load() {
  const answer = await fetch(byId("replay").dataset.record);
  record = await answer.json();
  byId("view").append(...record.views.map((view, place) => el("option", { value: place }, view.name)));
  byId("slider").max = record.count;
  byId("slider").value = 0;
  byId("view").addEventListener("change", drawSide);
  byId("slider").addEventListener("input", draw);
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  byId("whole").addEventListener("click", () => step(record.count));
  drawSide();
}

load();
