"use strict";
// Show one or two recorded dialogues to judge. It needs lines.js.

async function load() {
  const lists = [...document.querySelectorAll("#sides .events")];
  const answer = await fetch("/item");
  const item = await answer.json();
  const parts = panelsOf(item.told);
  byId("side").hidden = parts.length === 0;
  byId("side").append(...parts.map(panel));
  for (const [place, lines] of item.sides.entries()) {
    addOpening(item.told, lists[place]);
    for (const line of lines) addEvent(line, lists[place]);
    lists[place].scrollTop = 0;
  }
}

load();
