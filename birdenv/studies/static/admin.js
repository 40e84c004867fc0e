"use strict";
// Keeps the part of the administrator's page that changes up to date. What comes is our own page, in which all
// text of others is escaped.

const now = document.getElementById("now");

async function refresh() {
  if (document.hidden || now.contains(document.activeElement)) return; // somebody is reading there by keyboard
  try {
    const answer = await fetch("/admin/now");
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    now.replaceChildren(...page.body.childNodes);
  } catch {
    // the server is away for a moment
  }
}

setInterval(refresh, 5000);
