"use strict";
// Keep the changing part of the administrator's page up to date. The response is our own page, in which all text
// of people is escaped.

const now = document.getElementById("now");

async function refresh() {
  if (document.hidden || now.contains(document.activeElement)) return; // the keyboard focus is there
  try {
    const answer = await fetch("/admin/now");
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    now.replaceChildren(...page.body.childNodes);
  } catch {
    // the server cannot be reached for a moment
  }
}

setInterval(refresh, 5000);
