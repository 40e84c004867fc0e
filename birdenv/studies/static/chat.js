// The page of a person who waits or talks; lines.js is before it.
"use strict";

const status = document.body.dataset.status;
const pending = new Map(); // moves that the server has not shown us yet, by our number
const MOST_SENT = 8; // of them; the others wait here, so that the server never has too many
let socket = null;
let after = 0; // events seen
let wait = 250; // milliseconds before the next try
let opened = 0; // when the connection came to be
let heard = false; // since then, what the server knows
let leaving = false; // another page comes
let setup = null;
let state = null;
let deadline = null;
let typingSince = null;
let typingTold = false;
let typingPause = 0; // the timer that ends it when no key is pressed
let turn = Promise.resolve(); // frames are read one after the other

// --- the connection

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.onopen = () => {
    opened = Date.now();
    heard = false;
    byId("line").textContent = "";
    send({ type: "hello", after });
  };
  socket.onmessage = (message) => {
    turn = turn.then(() => receive(JSON.parse(message.data)));
  };
  socket.onclose = (event) => {
    if (leaving) return;
    if (event.code >= 4400 && event.code < 4500) {
      byId("line").textContent = "The connection was refused. Please load this page again.";
      return;
    }
    byId("line").textContent = "No connection; trying again.";
    heard = false;
    for (const move of pending.values()) move.sent = false;
    if (opened && Date.now() - opened > 5000) wait = 250;
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, 4000);
  };
}

function send(frame) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

// What may be sent is sent, in its order.
function sendPending() {
  if (!heard) return;
  let sent = 0;
  for (const move of pending.values()) {
    if ((sent += 1) > MOST_SENT) return;
    if (!move.sent) send(move.frame);
    move.sent = true;
  }
}

function notSent(cid) {
  const move = pending.get(cid);
  if (!move) return;
  move.line.className = "you refused";
  move.line.firstChild.textContent = "You (not sent: too fast)";
  pending.delete(cid);
}

async function receive(frame) {
  if (leaving) return;
  if (frame.type === "status") {
    if (frame.status !== status) {
      leaving = true;
      location.reload();
    }
    if (frame.seconds_left != null) deadline = Date.now() + frame.seconds_left * 1000;
  } else if (frame.type === "setup") {
    if (setup !== null) { // a connection that came back: the page stands, and what was typed stays
      if (setup.dialogue === frame.dialogue) return;
      leaving = true; // another tab has gone on to another partner
      location.reload();
      return;
    }
    setup = frame;
    showTold(setup);
    if (setup.actions.some((action) => action.fields.some((field) => field.kind === "code"))) await loadEditor();
    buildControls();
  } else if (frame.type === "news") {
    for (const event of frame.events) showEvent(event);
    state = frame.state;
    update();
    heard = true;
    sendPending();
  } else if (frame.type === "too_fast") {
    notSent(frame.cid);
    sendPending();
  } else if (frame.type === "typing") {
    byId("typing").hidden = !frame.on;
  }
}

// --- what is heard

function showEvent(event) {
  if (event.number < after) return;
  after = event.number + 1;
  if (event.cid && pending.has(event.cid)) {
    pending.get(event.cid).line.remove();
    pending.delete(event.cid);
  }
  addEvent(event);
}

// --- what can be done

function play(action, data) {
  const cid = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const seconds = typingSince === null ? null : Math.min(86400, (Date.now() - typingSince) / 1000);
  const frame = { type: "move", cid, dialogue: setup.dialogue, action: action.name, data, seconds };
  const event = { action: action.name, data };
  pending.set(cid, { frame, sent: false, line: addLine("you", "You (sending)", [make("span", said(event))], "pending") });
  sendPending();
  stopTyping();
}

function stopTyping() {
  pauseTyping();
  typingSince = null;
}

function pauseTyping() {
  clearTimeout(typingPause);
  if (typingTold) send({ type: "typing", on: false });
  typingTold = false;
}

function noteTyping() {
  if (typingSince === null) typingSince = Date.now();
  if (!typingTold) send({ type: "typing", on: true });
  typingTold = true;
  clearTimeout(typingPause);
  typingPause = setTimeout(pauseTyping, 5000);
}

// The editor of code comes only where there is code; without it a plain text area does.
function loadEditor() {
  return new Promise((resolve) => {
    const script = make("script");
    script.src = "/static/editor.js";
    script.onload = script.onerror = resolve;
    document.head.append(script);
  });
}

function editor(field, send) {
  const host = make("div", undefined, "code");
  const schema = setup.instruction.slice(Math.max(0, setup.instruction.search(/CREATE TABLE/i)));
  const made = window.makeEditor(host, {
    label: words(field.name),
    words: [...new Set(schema.match(/[A-Za-z_]\w{2,}/g))],
    length: field.length,
    onChange: noteTyping,
    onSend: send,
  });
  Object.defineProperty(host, "value", { get: made.text });
  return host;
}

function input(field, send) {
  if (field.kind === "code" && window.makeEditor) return editor(field, send);
  if (field.kind === "item") {
    const made = make("select");
    made.dataset.items = "yes";
    made.setAttribute("aria-label", field.name);
    return made;
  }
  const isText = field.kind === "text" || field.kind === "code";
  const made = make(isText ? "textarea" : "input");
  if (isText) {
    made.rows = field.kind === "code" ? 6 : 2;
    made.maxLength = field.length;
    made.spellcheck = field.kind === "text";
    if (field.kind === "code") made.className = "code";
    made.addEventListener("input", noteTyping);
  } else {
    made.type = "number";
    made.min = field.low;
    made.max = field.high;
    made.step = field.kind === "integer" ? 1 : "any";
    made.required = !field.optional;
  }
  if (isText) made.placeholder = words(field.name);
  made.setAttribute("aria-label", words(field.name));
  return made;
}

// A number or an item does not tell what it is for, once it is there.
function labelled(field, box) {
  if (box.type !== "number" && box.type !== "select-one") return box;
  const made = make("label", `${words(field.name)} `);
  made.append(box);
  return made;
}

function valueOf(field, box) {
  if (field.kind === "item") return box.value === "" ? null : JSON.parse(box.value);
  if (field.kind === "text" || field.kind === "code") return box.value === "" && field.optional ? null : box.value;
  return box.value === "" ? null : Number(box.value);
}

function buildControls() {
  const controls = byId("controls");
  for (const action of setup.actions) {
    const form = make("form");
    form.dataset.action = action.name;
    form.hidden = true;
    const button = make("button", words(action.name));
    const send = () => button.disabled || form.requestSubmit();
    const boxes = action.fields.map((field) => input(field, send));
    form.append(...boxes.map((box, place) => labelled(action.fields[place], box)), button, make("span", action.about, "who"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = action.fields.map((field, place) => valueOf(field, boxes[place]));
      const names = action.fields.map((field) => field.name);
      const data = values.length === 0 ? null : values.length === 1 ? values[0]
        : Object.fromEntries(names.map((name, place) => [name, values[place]]));
      play(action, data);
      for (const [place, field] of action.fields.entries()) if (field.kind === "text") boxes[place].value = "";
    });
    for (const [place, field] of action.fields.entries()) {
      if (boxes[place].shadowRoot) continue; // the editor has keys of its own
      boxes[place].addEventListener("keydown", (event) => {
        const sends = field.kind === "code" ? event.ctrlKey || event.metaKey : !event.shiftKey;
        if (event.key !== "Enter" || !sends || event.isComposing) return;
        event.preventDefault();
        send();
      });
    }
    controls.append(form);
  }
}

// The items as they are now, with the same one chosen as before if it is still there.
function showChoices(list) {
  const items = state.choices.map((item) => JSON.stringify(item));
  const known = [...list.options].map((option) => option.value);
  if (items.length === known.length && items.every((item, place) => item === known[place])) return;
  const chosen = list.value;
  list.replaceChildren(...state.choices.map((item, place) => {
    const option = make("option", named(item));
    option.value = items[place];
    return option;
  }));
  if (items.includes(chosen)) list.value = chosen;
}

function update() {
  const parts = setup.phases > 1 ? [`part ${state.phase}`] : [];
  for (const [name, value] of Object.entries(state.gauges)) parts.push(`${words(name)}: ${value}`);
  byId("gauges").textContent = parts.join(" · ");
  for (const form of byId("controls").children) {
    const legal = state.legal.includes(form.dataset.action);
    if (legal) form.hidden = false; // what the game never allows is not shown
    form.querySelector("button").disabled = !legal;
    for (const list of form.querySelectorAll("select[data-items]")) showChoices(list);
  }
  byId("line").textContent = state.over ? "The talk is over." : state.legal.length ? "" : "It is your partner's turn.";
}

setInterval(() => {
  if (deadline === null || !byId("left")) return;
  const left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  byId("left").textContent = `At most ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} more. Then you can finish and are paid.`;
}, 500);

connect();
