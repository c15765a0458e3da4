// The answers to the calls that a conversation waits for: outputs, and approvals.

import { html, useState } from "./htm-preact.js";
import { inert } from "./format.js";
import { read, send } from "./server.js";

const CALL = /_call$/;
const REQUEST = "mcp_approval_request";

/** The calls that the conversation waits for, each with its card. */
function openCalls({ summary, turns }) {
  const calls = summary.state.state === "waiting" ? summary.state.calls : [];
  const cards = turns.flatMap((turn) => turn.returned.cards);
  return calls.map((id) => ({ id, card: cards.findLast((it) => it.call_id === id || it.id === id) }));
}

const isRequest = ({ card }) => card?.kind === REQUEST;

/** The item that answers a call. */
function answerTo({ id, card }, output, approve) {
  if (card?.kind === REQUEST) {
    return { type: "mcp_approval_response", approval_request_id: card.id, approve };
  }
  const type = CALL.test(card?.kind ?? "") ? `${card.kind}_output` : "function_call_output";
  return { type, call_id: id, output };
}

/** The fields by which a request continues a conversation or a chain. */
function continuing({ summary, turns }) {
  if (summary.kind === "conversation") return { conversation: summary.id };
  const last = turns.findLast((turn) => turn.status !== "in_progress");
  return last ? { previous_response_id: last.id } : {};
}

/** Fails if the conversation does not wait for these calls any more: another page may be older. */
async function checkOpen(view, calls) {
  const path = `/inspect/conversations/${encodeURIComponent(view.summary.id)}.json?limit=1`;
  const { state } = (await read(path)).summary;
  const open = state.state === "waiting" ? state.calls : [];
  if (!calls.every(({ id }) => open.includes(id))) throw new Error("This was answered already.");
}

/** Sends the answers to all calls in one turn. */
async function sendAnswers(view, calls, outputs, decisions) {
  await checkOpen(view, calls);
  const input = calls.map((call) => answerTo(call, outputs[call.id] ?? "", decisions[call.id]));
  const model = view.turns.at(-1)?.model;
  const { body } = await send("POST", "/v1/responses", { model, input, ...continuing(view) });
  return `The model answered: ${body.id}`;
}

/** A request for an approval, with its two answers. */
function Request({ call: { id, card }, decision, busy, decide }) {
  const title = card.text ?? id;
  return html`<div class="request" role="group" aria-label=${`Approval of ${inert(title)}`}>
    <p><code>${inert(title)}</code></p>
    ${[["Approve", true], ["Deny", false]].map(([label, approve]) => html`<button type="button"
      aria-pressed=${decision === approve} disabled=${busy} onClick=${() => decide(id, approve)}>${label}</button> `)}
  </div>`;
}

/** Answers the open calls. The turn begins when the last approval is decided, or with the button. */
export function Answers({ view, run, busy }) {
  const [outputs, setOutputs] = useState({});
  const [decisions, setDecisions] = useState({});
  const calls = openCalls(view);
  if (calls.length === 0) return null;
  const requests = calls.filter(isRequest);
  const answer = (decided) => run(() => sendAnswers(view, calls, outputs, decided));
  const decide = (id, approve) => {
    const decided = { ...decisions, [id]: approve };
    setDecisions(decided);
    if (requests.every((it) => it.id in decided)) answer(decided);
  };
  return html`<form class="answers" onSubmit=${(event) => {
    event.preventDefault();
    if (requests.length === 0) answer(decisions);
  }}>
    ${calls.filter((call) => !isRequest(call)).map(({ id }) => html`<label for=${`output-${id}`}>Output of ${inert(id)}</label>
      <textarea id=${`output-${id}`} rows="2" value=${outputs[id] ?? ""} onInput=${(event) =>
        setOutputs({ ...outputs, [id]: event.target.value })}></textarea>`)}
    ${requests.map((call) => html`<${Request} key=${call.id} call=${call} decision=${decisions[call.id]}
      busy=${busy} decide=${decide} />`)}
    ${requests.length === 0 && html`<button disabled=${busy}>${calls.length === 1 ? "Answer the call" : "Answer the calls"}</button>`}
  </form>`;
}

/** The answers to approval requests in these turns, by request: `approved`, `denied` or `answered`. */
export function approvals(turns) {
  const cards = turns.flatMap((turn) => turn.received.cards);
  const responses = cards.filter((card) => card.kind === "mcp_approval_response");
  return new Map(responses.map((card) => [card.call_id, card.text ?? "answered"]));
}
