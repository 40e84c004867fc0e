"use strict";
// The page of a person who waits or talks: the connection, received events, and moves. It needs controls.js.

const status = document.body.dataset.status;
const pending = new Map(); // moves that the server has not confirmed yet, by our id
const MOST_SENT = 8; // pending moves sent at once; the others wait here, so that the server never has too many
let socket = null;
let after = 0; // events seen
let wait = 250; // milliseconds before the next try
let opened = 0; // when the connection was opened
let heard = false; // the server's news have arrived since then
let leaving = false; // another page is being loaded
let setup = null;
let state = null;
let controls = null;
let deadline = null;
let typingSince = null;
let typingTold = false;
let typingPause = 0; // the timer that ends typing when no key is pressed
let turn = Promise.resolve(); // frames are read one after the other

// --- the connection

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  socket.onopen = () => {
    opened = Date.now();
    heard = false;
    tell("");
    send({ type: "hello", after });
  };
  socket.onmessage = (message) => {
    turn = turn.then(() => receive(JSON.parse(message.data)));
  };
  socket.onclose = (event) => {
    if (leaving) return;
    if (event.code >= 4400 && event.code < 4500) {
      tell("The connection was refused. Please reload this page.");
      return;
    }
    tell("No connection. Trying again …");
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

// Send the pending moves in order, as far as they may be sent.
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
  move.line.firstChild.textContent = "You (not sent: that was too fast)";
  pending.delete(cid);
}

async function receive(frame) {
  if (leaving) return;
  if (frame.type === "status") {
    if (frame.status !== status) {
      leaving = true;
      location.assign("/");
    }
    if (frame.seconds_left != null) deadline = Date.now() + frame.seconds_left * 1000;
  } else if (frame.type === "setup") {
    if (setup !== null) { // after reconnecting: keep the page and what was typed
      if (setup.dialogue === frame.dialogue) return;
      leaving = true; // another tab has gone on to another partner
      location.assign("/");
      return;
    }
    setup = frame;
    await build();
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
  if (heard && event.who !== "you") noteUnread();
}

// --- what can be done

function play(action, data) {
  const cid = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const seconds = typingSince === null ? null : Math.min(86400, (Date.now() - typingSince) / 1000);
  const frame = { type: "move", cid, dialogue: setup.dialogue, action: action.name, data, seconds };
  const isCode = action.fields.length === 1 && action.fields[0].kind === "code";
  const line = addLine("you pending", "You (sending …)", said({ data, is_code: isCode, said: action.label }));
  pending.set(cid, { frame, sent: false, line });
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

// The code editor is loaded only for actions with code; if that fails, a plain text area is used.
function loadEditor() {
  return new Promise((resolve) => {
    const script = el("script", { src: "/static/editor.js" });
    script.onload = script.onerror = resolve;
    document.head.append(script);
  });
}

async function build() {
  const hasEditor = setup.actions.some((action) => action.place === "editor");
  if (hasEditor) await loadEditor();
  const parts = panelsOf(setup);
  byId("side").replaceChildren(...parts.map(panel));
  const others = parts.map((part) => `“${part.title}”`).join(", ");
  byId("log").querySelector(".empty").textContent = `No messages yet. Please read first: ${others}.`;
  addOpening(setup);
  const isSplit = hasEditor && setup.actions.some((action) => action.place === "message");
  byId("chat").classList.toggle("split", isSplit); // on a phone the editor has a tab of its own
  buildTabs(parts.map((part) => part.title), isSplit);
  controls = new Controls(setup, play, noteTyping);
  controls.build();
  if (controls.message && document.activeElement === document.body) controls.message.focus();
}

function tell(words) {
  byId("line").textContent = words;
}

function update() {
  byId("standing").textContent = state.left;
  controls.show(state);
  const partner = setup.partner === "Partner" ? "your partner" : `the ${setup.partner.toLowerCase()}`;
  tell(state.over ? "The conversation is over." : state.legal.length ? "" : `Please wait for ${partner}.`);
}

window.addEventListener("resize", () => { if (byId("log")) byId("log").scrollTop = byId("log").scrollHeight; }); // a keyboard came

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && byId("log") && byId("log").offsetParent !== null) read();
});

setInterval(() => {
  if (deadline === null || !byId("left")) return;
  const left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  byId("left").textContent = `You will wait at most ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} more. If nobody comes, you can finish with a completion code.`;
}, 500);

connect();
