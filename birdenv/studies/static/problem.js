"use strict";
// Sends a report of a problem without leaving the page, so that whatever is typed elsewhere on it stays.

const report = document.getElementById("report");

report.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = report.querySelector("[role=status]");
  try {
    const answer = await fetch("/report", { method: "POST", body: new URLSearchParams(new FormData(report)) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    said.textContent = page.querySelector("#told, [role=alert]").textContent;
    if (answer.ok) report.querySelector("textarea").value = "";
  } catch {
    said.textContent = "There is no connection. Please send it again in a moment.";
  }
});
