"use strict";
// One episode: what it began with, the dialogue, results against the gold's, and the turn where two runs part.

async function episode(task) {
  const around = chosen();
  const place = around.indexOf(task);
  const [before, after] = [around[place - 1], around[place + 1]];
  const made = [];
  try {
    for (const number of task.of.keys()) made[number] = task.of[number] ? await data(`episode-${number}-${task.at[number]}`) : null;
  } catch (error) {
    main.replaceChildren(el("p", { class: "problem", role: "alert" }, visible(error.message)), el("a", { href: "#" }, "All episodes"));
    return;
  }
  if (address(task) !== location.hash && encodeURIComponent(decodeURIComponent(location.hash.slice(2))) !== address(task).slice(2)) return;
  const parting = made[0] && made[1] ? partingTurn(made[0], made[1]) : -1;
  fill(
    el("nav", { "aria-label": "Episodes" },
      el("a", { href: "#" }, "All episodes"),
      before ? el("a", { href: address(before), rel: "prev" }, "← " + visible(before.name)) : "",
      place >= 0 && after ? el("a", { href: address(after), rel: "next" }, visible(after.name) + " →") : ""),
    el("h1", {}, visible(task.name)),
    banner(),
    runs.length > 1 ? el("p", { class: "note" }, parting < 0 ? "The two runs do not part: every turn is the same." : `The two runs part at turn ${parting + 1}.`) : "",
    el("div", { class: made.filter(Boolean).length > 1 ? "columns two" : "" }, made.map((each, number) => (each ? one(each, number, parting) : null))),
  );
}

function partingTurn(one, other) {
  const [ours, theirs] = [one.turns ?? [], other.turns ?? []];
  const said = (turn) => turn && JSON.stringify([turn.seat, turn.action, turn.text, turn.reply]);
  const length = Math.max(ours.length, theirs.length);
  for (let place = 0; place < length; place += 1) if (said(ours[place]) !== said(theirs[place])) return place;
  return -1;
}

function one(shown, run, parting) {
  const who = Object.entries(shown.players ?? {}).map(([seat, player]) => `${seat}: ${player}`);
  const facts = Object.entries(shown.facts ?? {}).filter(([, value]) => typeof value !== "object").map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`);
  return el("article", { "aria-label": title(runs[run], run) },
    runs.length > 1 ? el("h2", {}, title(runs[run], run)) : "",
    el("p", { class: "about" }, visible([...who, ...facts].join(" · "))),
    el("p", {}, verdict(shown.outcome), `, reward ${(shown.reward ?? 0).toLocaleString("en", { maximumFractionDigits: 3 })}`, shown.culprit ? `; the ${visible(shown.culprit)} is at fault` : ""),
    shown.error ? words(shown.error) : "",
    shown.phases ? table("Attempts", ["Attempt", "Verdict", "Reward"], shown.phases.map(([name, word, reward]) => [name, verdict(word), reward ?? "–"])) : "",
    shown.request ? el("section", { class: "request-box", "aria-label": "Request" }, el("h3", {}, "Request"), shown.terms ? marked(shown.request, shown.terms) : words(shown.request)) : "",
    shown.terms ? terms(shown.terms) : "",
    (shown.sections ?? []).map(section),
    el("h3", {}, "Dialogue"),
    el("ol", { class: "turns" }, (shown.turns ?? []).map((each, place) => turn(each, place === parting))),
    shown.secrets ? el("section", { class: "secret", "aria-label": "Private" }, shown.secrets.map(section)) : "");
}

/** The request with its open terms marked where they stand in it. */
function marked(request, terms) {
  const box = el("p", { class: "words", dir: "auto" });
  let rest = visible(request);
  while (rest) {
    const found = terms.map(([term, ...states]) => ({ at: rest.toLowerCase().indexOf(visible(term).toLowerCase()), length: visible(term).length, states })).filter((each) => each.at >= 0 && each.length > 0).sort((a, b) => a.at - b.at)[0];
    if (!found) break;
    const good = found.states.every(Boolean) || found.states[2];
    box.append(rest.slice(0, found.at), el("mark", { class: good ? "good" : "bad" }, rest.slice(found.at, found.at + found.length)));
    rest = rest.slice(found.at + found.length);
  }
  box.append(rest);
  return box;
}

function terms(all) {
  const said = (yes) => el("span", { class: yes ? "good" : "bad" }, yes ? "✓ yes" : "✗ no");
  return el("section", { class: "secret", "aria-label": "Open terms" }, table("Open terms of the request (private)", ["Term", "Asked", "Answered", "In the SQL"], all.map(([term, ...states]) => [term, ...states.map(said)])));
}

function section(part) {
  if (part.kind === "table") return table(part.title, part.columns ?? [], part.rows ?? []);
  return el("div", {}, el("h3", {}, visible(part.title)), part.kind === "sql" ? sql(part.text ?? "") : words(part.text ?? ""));
}

function turn(each, parts) {
  return el("li", { class: `turn ${parts ? "parts" : ""} ${each.refused ? "refused" : ""}` },
    el("p", { class: "who" }, visible(each.seat), " ", el("span", { class: "action" }, visible(each.action)), each.refused ? " (refused)" : "", each.subject ? el("span", { class: "subject" }, `about: ${visible(each.subject)}`) : "", parts ? el("strong", {}, " the runs part here") : ""),
    each.text ? (each.is_sql ? sql(each.text) : words(each.text)) : "",
    each.reply ? reply(each.reply) : "",
    each.table ? result(each.table) : "",
    each.error ? el("div", { class: "problem" }, words(each.error)) : "",
    each.verdict ? el("p", {}, "Verdict: ", verdict(each.verdict)) : "",
    each.difference && each.difference.why ? difference(each.difference) : "",
    each.note ? el("div", { class: "secret" }, words(each.note)) : "");
}

/** Replies of the house; results stand in them as text tables. */
function reply(text) {
  return text.includes("\n") ? el("pre", { class: "reply", tabindex: "0", role: "region", "aria-label": "Reply" }, visible(text)) : el("p", { class: "reply", dir: "auto" }, visible(text));
}

function result(found) {
  const count = found.count ?? 0;
  return table(`Result: ${found.is_cut ? "at least " : ""}${count} ${count === 1 ? "row" : "rows"}${count > (found.rows ?? []).length ? `, the first ${(found.rows ?? []).length} shown` : ""}`, found.columns ?? [], found.rows ?? [], { class: "result" });
}

function difference(found) {
  const why = el("p", { class: "difference" }, "Against the gold: " + visible(found.why));
  if (!found.rows) return why;
  const rows = found.rows.map(({ expected, returned }) => {
    const kind = expected && returned ? "wrong" : expected ? "missing" : "extra";
    const cells = (expected ?? returned).map((cell, place) => {
      if (kind !== "wrong" || cell === returned[place]) return el("td", { dir: "auto" }, shown(kind === "extra" ? returned[place] : cell));
      return el("td", { dir: "auto" }, el("del", {}, shown(returned[place])), " ", el("ins", {}, shown(cell)));
    });
    return el("tr", { class: kind }, el("th", { scope: "row" }, kind), cells);
  });
  return el("div", { class: "secret" }, why, table("Rows that differ (private): crossed out what was returned, then what was expected", ["", ...(found.columns ?? [])], rows));
}
