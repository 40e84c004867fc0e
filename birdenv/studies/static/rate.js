// One or two recorded dialogues to judge; lines.js is before it.
"use strict";

async function load() {
  const lists = [...document.querySelectorAll("#sides .events")];
  const answer = await fetch("/item");
  const item = await answer.json();
  byId("side").hidden = !item.told.instruction;
  for (const [place, lines] of item.sides.entries()) {
    if (place === 0) showTold(item.told, lists[0]);
    else if (item.told.opening) addLine("partner", item.told.voice, [make("span", item.told.opening)], "", lists[place]);
    for (const line of lines) addEvent(line, lists[place]);
    lists[place].scrollTop = 0;
  }
}

load();
