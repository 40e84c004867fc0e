// A recorded dialogue, step by step, from the eyes of a seat; lines.js is before it.
"use strict";

let record = null;

function shown() {
  return record.views[Number(byId("view").value)];
}

// The log up to the slider: every line has the place in the log (`at`) at which its seat saw it.
function draw() {
  const at = Number(byId("slider").value);
  byId("place").textContent = `${at} of ${record.count}`;
  byId("events").replaceChildren();
  showTold(shown().told);
  byId("side").hidden = !shown().told.instruction && record.private === null;
  for (const line of shown().lines) if (line.at <= at) addEvent(line);
  byId("line").textContent = at === 0 ? "Nothing has happened yet." : at === record.count ? "The end." : "";
}

function step(by) {
  byId("slider").value = Number(byId("slider").value) + by;
  draw();
}

async function load() {
  const answer = await fetch(byId("replay").dataset.record);
  record = await answer.json();
  for (const [place, view] of record.views.entries()) {
    const option = make("option", view.name);
    option.value = place;
    byId("view").append(option);
  }
  byId("slider").max = record.count;
  byId("slider").value = record.count;
  if (record.private !== null) {
    byId("private").hidden = false;
    byId("private").querySelector("pre").textContent = JSON.stringify(record.private, null, 2);
  }
  byId("view").addEventListener("change", draw);
  byId("slider").addEventListener("input", draw);
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  draw();
}

load();
