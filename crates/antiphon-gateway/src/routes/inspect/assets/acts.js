// Acts that change a conversation. Each is a request of the API.

import { html, useRef, useState } from "./htm-preact.js";
import { inert } from "./format.js";
import { read, send } from "./server.js";
import { Answers } from "./answers.js";

/** Runs an act and shows its result. While one runs, no other begins. */
function useAct(changed) {
  const [message, setMessage] = useState(null);
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const run = async (act) => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setMessage("Working…");
    try {
      setMessage((await act()) ?? "Done.");
    } catch (error) {
      setMessage(error.message);
    }
    running.current = false;
    setBusy(false);
    changed?.();
  };
  return { message, busy, run };
}

const Result = ({ message }) => html`<p class="result" role="status">${message && inert(message)}</p>`;

function save(name, value) {
  const link = document.createElement("a");
  const blob = new Blob([JSON.stringify(value, null, 2)], { type: "application/json" });
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function allItems(conversation) {
  const items = [];
  for (let after = ""; ; ) {
    const more = after ? `&after=${encodeURIComponent(after)}` : "";
    const page = await read(`/v1/conversations/${encodeURIComponent(conversation)}/items?limit=100&order=asc${more}`);
    items.push(...page.data);
    if (!page.has_more) return items;
    after = page.last_id;
  }
}

/** The acts on a conversation: answer its open calls, end its turn, export it. */
export function ConversationActs({ view, changed }) {
  const { message, busy, run } = useAct(changed);
  const { summary, live } = view;
  const waits = summary.state.state === "waiting";
  return html`<section class="acts" aria-label="Acts">
    ${waits && view.next && html`<p class="note">The last turn waits for an answer. Scroll down to load it.</p>`}
    ${!view.next && html`<${Answers} view=${view} run=${run} busy=${busy} />`}
    ${live.response && html`<button type="button" onClick=${() => run(async () => {
      await send("POST", `/v1/responses/${encodeURIComponent(live.response)}/end`, {});
    })}>End the open turn</button>`}
    ${summary.kind === "conversation" && html`<button type="button" onClick=${() => run(async () => {
      save(`${summary.id}.json`, { ...summary, items: await allItems(summary.id) });
    })}>Export</button>
    <a class="button" href=${`#/play/${encodeURIComponent(summary.id)}`}>Add a turn</a>`}
    <${Result} message=${message} />
  </section>`;
}

/** The input of a turn, as the model received it. */
const givenItems = async (turn) => (await read(`/inspect/turns/${encodeURIComponent(turn.id)}/context.json`)).items;

/** The acts on a turn: repeat it as a fork, copy its input, delete an item. */
export function TurnActs({ turn, changed }) {
  const { message, run } = useAct(changed);
  const replay = (model) => run(async () => {
    const own = (await givenItems(turn)).filter((entry) => entry.source === "input" && entry.item);
    const input = own.map((entry) => entry.item);
    const previous = turn.previous ? { previous_response_id: turn.previous } : {};
    const { body } = await send("POST", "/v1/responses", { model, input, ...previous });
    location.hash = `#/t/${encodeURIComponent(body.id)}`;
  });
  const copy = () => run(async () => {
    const items = (await givenItems(turn)).filter((entry) => entry.item).map((entry) => entry.item);
    await navigator.clipboard.writeText(JSON.stringify(items, null, 1));
    return "Copied. Paste it into: antiphon check";
  });
  return html`<section class="acts" aria-label=${`Acts on ${turn.id}`}>
    <button type="button" onClick=${() => replay(turn.model)}>Run again as a fork</button>
    ${turn.model !== "sim" && html`<button type="button" onClick=${() => replay("sim")}>Run again with sim</button>`}
    <button type="button" onClick=${copy}>Copy as input of antiphon check</button>
    <${DeleteItem} turn=${turn} run=${run} />
    <${Result} message=${message} />
  </section>`;
}

/** Deletes one of the turn's items. Only conversations let their items be deleted. */
function DeleteItem({ turn, run }) {
  const [item, setItem] = useState("");
  const fresh = turn.received.cards.filter((card) => card.fates.some((fate) => fate.fate === "new"));
  const cards = [...fresh, ...turn.returned.cards].filter((card) => card.id);
  const owner = turn.conversation;
  if (!owner || cards.length === 0) return null;
  const name = `delete-${turn.id}`;
  return html`<form onSubmit=${(event) => {
    event.preventDefault();
    if (item) run(async () => {
      await send("DELETE", `/v1/conversations/${encodeURIComponent(owner)}/items/${encodeURIComponent(item)}`);
      return "The item is deleted.";
    });
  }}>
    <label for=${name}>Item</label>
    <select id=${name} value=${item} onChange=${(event) => setItem(event.target.value)}>
      <option value="">Choose an item</option>
      ${cards.map((card) => html`<option value=${card.id}>${inert(`${card.kind} ${card.id}`)}</option>`)}
    </select>
    <button disabled=${!item}>Delete the item</button>
  </form>`;
}
