// The list of conversations.

import { html, useEffect, useState } from "./htm-preact.js";
import { bytes, cost, count, inert, plural, time, tokens, words } from "./format.js";
import { Fault } from "./fault.js";
import { query, read } from "./server.js";

/** The parts of the list, by their names in queries. */
const PARTS = [
  ["", "All conversations"],
  ["open", "All but healthy"],
  ["open_turn", "With an open turn"],
  ["waiting", "Waiting"],
  ["poisoned", "Poisoned"],
  ["stale", "Stale"],
  ["repaired", "Repaired"],
  ["refused", "Refused"],
];

const SENTENCES = {
  healthy: () => "The provider accepts the stored items, and no turn is open.",
  open_turn: (state) => `A turn runs${state.response ? `: ${state.response}` : ""}.`,
  waiting: (state) => `Waits for the output of ${state.calls.join(", ")}.`,
  poisoned: (state) => `The provider rejects the stored items: ${state.message} `
    + "Turns through this gateway still run, because each prompt is repaired. Other clients of these items fail.",
  stale: () => "The upstream may hold other items than the ledger lists. The next turn reads them first.",
  unchecked: () => "Too long for this list; its own page checks it.",
};

/** The state of a conversation: a word, and a sentence. */
export function State({ state }) {
  const sentence = SENTENCES[state.state]?.(state) ?? "";
  return html`<span class="state state-${state.state}"><span class="badge">${words(state.state)}</span></span>
    ${state.fault && html`<${Fault} name=${state.fault} />: `}
    <span class="sentence">${inert(sentence)}</span>`;
}

/** The facts of a conversation in one line. */
export function Facts({ summary }) {
  const facts = [
    plural(summary.turns, "turn"),
    plural(summary.items, "item"),
    bytes(summary.bytes),
    tokens(summary.tokens) && `${tokens(summary.tokens)} tokens`,
    cost(summary.cost),
    summary.owner === "upstream" && "state at the upstream",
  ];
  return html`<p class="facts">${facts.filter(Boolean).join(" · ")}</p>
    <${Repairs} summary=${summary} />`;
}

/** The repairs of the newest turns, and the faults of the last repaired one. */
function Repairs({ summary: { counted_turns, repaired_turns, last_repaired: last } }) {
  if (!last) return null;
  const faults = Object.entries(last.faults);
  const share = counted_turns === 1 ? "in its turn" : `in ${count(repaired_turns)} of ${plural(counted_turns, "turn")}`;
  return html`<p class="state-repaired">
    <span class="badge">repaired</span> ${share}, last on ${time(last.created_at)} in${" "}
    <a href=${`#/t/${encodeURIComponent(last.response)}`}>this turn</a>:${" "}
    ${faults.map(([fault, number], at) => html`${at > 0 && ", "}<${Fault} name=${fault} />${number > 1 && ` (${count(number)} times)`}`)}
  </p>`;
}

/** The refused turns that continue a conversation. */
export const refusedOf = ({ id, last_response }, refused) =>
  refused.filter(({ continues }) => continues && (continues === id || continues === last_response));

/** The turns of a conversation that left no response: their number, and the error of the last. */
export function RefusedTurns({ turns }) {
  if (turns.length === 0) return null;
  const [last] = turns;
  return html`<p class="state-refused">
    <span class="badge">refused</span> ${plural(turns.length, "turn")} in the last 24 hours, last on ${time(last.created_at)} in${" "}
    <a href=${`#/t/${encodeURIComponent(last.request_id)}/context`}>this request</a>:${" "}
    ${last.fault && html`<${Fault} name=${last.fault} />: `}
    <span class="sentence">${inert(last.message)}</span> The agent did not get an answer.${" "}
    <${User} turn=${last} />
  </p>`;
}

/** The user that a refused request names. */
export const User = ({ turn: { user } }) =>
  user && html`<span class="user">User <code>${inert(user)}</code></span>`;

/** The metadata of a conversation. */
export function Metadata({ metadata }) {
  const entries = Object.entries(metadata);
  return entries.length > 0 && html`<p class="metadata">
    ${entries.map(([name, value]) => html`<span class="badge">${inert(`${name}: ${value}`)}</span> `)}
  </p>`;
}

function Row({ summary, refused }) {
  const title = summary.title ?? (summary.kind === "chain" ? "Chain of responses" : "Conversation");
  return html`<li class="row">
    <a href=${`#/c/${encodeURIComponent(summary.id)}`}><bdi>${inert(title)}</bdi></a>
    <p class="ids"><code>${inert(summary.id)}</code> ${summary.last_turn_at === null ? "created" : "last turn"} ${time(summary.last_turn_at ?? summary.created_at)}</p>
    <p><${State} state=${summary.state} /></p>
    <${Facts} summary=${summary} />
    <${RefusedTurns} turns=${refused} />
    <${Metadata} metadata=${summary.metadata} />
  </li>`;
}

/** The conversation or response that a refused turn continues, as a link if it exists. */
export function Continued({ turn: { continues, fault } }) {
  const id = html`<code>${inert(continues)}</code>`;
  return fault === "previous_response_not_found"
    ? html`continues ${id}, which is not stored`
    : html`continues <a href=${`#/c/${encodeURIComponent(continues)}`}>${id}</a>`;
}

/** The turns of the last day that left no response. */
function Refused({ turns, config }) {
  if (turns.length === 0) return null;
  return html`<details class="refused" open=${turns.length <= 5}>
    <summary>${plural(turns.length, "turn")} refused or failed in the last 24 hours</summary>
    <ul class="rows">${turns.map((turn) => html`<li class="row" key=${turn.request_id}>
      ${config.shows_bodies
        ? html`<a href=${`#/t/${encodeURIComponent(turn.request_id)}/context`}>${inert(turn.request_id)}</a>`
        : html`<code>${inert(turn.request_id)}</code>`}
      <p class="ids">${time(turn.created_at)} ${inert(turn.model ?? "")}
        ${turn.continues && html` · <${Continued} turn=${turn} />`}
        ${turn.user && html` · <${User} turn=${turn} />`}</p>
      <p class="error"><${Fault} name=${turn.fault ?? turn.code ?? "error"} />: ${inert(turn.message)}</p>
    </li>`)}</ul>
  </details>`;
}

/** `#/`: all conversations, the latest first. */
export function List({ change, config, fail }) {
  const [search, setSearch] = useState("");
  const [show, setShow] = useState("");
  const [page, setPage] = useState(null);
  const [refused, setRefused] = useState([]);
  const [more, setMore] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      let found = { data: [], next: null };
      for (let loaded = 0; loaded <= more; loaded += 1) {
        const path = `/inspect/conversations.json${query({ search, show, after: found.next, limit: 20 })}`;
        const next = await read(path, { signal: leaving.signal });
        found = { ...next, data: [...found.data, ...next.data] };
        if (!next.next) break;
      }
      setPage(found);
    };
    Promise.all([load(), read("/inspect/refused.json", { signal: leaving.signal }).then(setRefused)])
      .catch((error) => leaving.signal.aborted || fail(error));
    return () => leaving.abort();
  }, [search, show, more, change]);
  const found = (turn) => JSON.stringify(turn).toLowerCase().includes(search.toLowerCase());
  return html`<h1>Conversations</h1>
    <form class="search" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label for="search">Search by id, metadata or text</label>
      <input id="search" type="search" value=${search} onInput=${(event) => {
        setMore(0);
        setSearch(event.target.value);
      }} />
      <label for="show">Show</label>
      <select id="show" value=${show} onChange=${(event) => {
        setMore(0);
        setShow(event.target.value);
      }}>${PARTS.map(([name, label]) => html`<option value=${name}>${label}</option>`)}</select>
    </form>
    <${Refused} turns=${["", "open", "refused"].includes(show) ? refused.filter(found) : []} config=${config} />
    ${page?.is_cut && html`<p class="note">Only a part was searched. Show more to continue.</p>`}
    ${page?.data.length === 0 && html`<p class="note">No conversation was found.</p>`}
    ${page ? html`<ul class="rows">
      ${page.data.map((summary) => html`<${Row} key=${summary.id} summary=${summary} refused=${refusedOf(summary, refused)} />`)}
    </ul>` : html`<p class="note" role="status">Loading…</p>`}
    ${page?.next && html`<button type="button" onClick=${() => setMore(more + 1)}>Show more conversations</button>`}`;
}
