// What the model was given in a turn, and the difference from the turn before.

import { html, useEffect, useState } from "./htm-preact.js";
import { bytes, count, inert, plural, words } from "./format.js";
import { read } from "./server.js";
import { Turn } from "./conversation.js";
import { Continued, User } from "./list.js";
import { Fault } from "./fault.js";

/** Loads values, and again after each change. */
function useLoaded(paths, change, fail) {
  const [values, setValues] = useState(null);
  useEffect(() => {
    const leaving = new AbortController();
    Promise.all(paths.map((path) => read(path, { signal: leaving.signal })))
      .then(setValues)
      .catch((error) => leaving.signal.aborted || fail(error));
    return () => leaving.abort();
  }, [paths.join(" "), change]);
  return values;
}

/** `#/t/ID`: one turn by itself, with its report. */
export function TurnPage({ id, change, config, fail }) {
  const [marked, mark] = useState(null);
  const [edits, setEdits] = useState(0);
  const values = useLoaded([`/inspect/turns/${encodeURIComponent(id)}.json`], `${change} ${edits}`, fail);
  if (!values) return html`<p class="note" role="status">Loading…</p>`;
  const [turn] = values;
  return html`<nav aria-label="Breadcrumb"><a href="#/">Conversations</a> / <a href=${`#/c/${encodeURIComponent(id)}`}>conversation</a></nav>
    <h1>Turn</h1>
    <${Turn} turn=${turn} marked=${marked} mark=${mark} config=${config} changed=${() => setEdits(edits + 1)} />
    <h2>Report</h2>
    <pre class="body" tabindex="0">${inert(JSON.stringify(turn.report, null, 2))}</pre>`;
}

const SOURCES = {
  stored: "stored before",
  input: "from the request",
  placeholder: "placeholder",
  compaction: "compaction",
  unknown: "of unknown origin",
};

function Item({ entry, at }) {
  const origin = SOURCES[entry.source] ?? words(entry.source);
  const text = entry.item ? JSON.stringify(entry.item, null, 2) : "The item was deleted.";
  return html`<li class="card">
    <p class="head"><span class="kind">${at + 1}. ${inert(words(entry.type))}</span> <span class="badge">${origin}</span></p>
    ${entry.item_id && html`<p class="ids"><code>${inert(entry.item_id)}</code></p>`}
    ${entry.repair && html`<p class="sentence">${inert(`${words(entry.repair.action)}: ${entry.repair.message}`)}</p>`}
    <pre class="body" tabindex="0">${inert(text)}</pre>
  </li>`;
}

function LeftOut({ entries }) {
  if (entries.length === 0) return null;
  return html`<h2>Left out</h2>
    <ul class="cards">${entries.map((entry) => html`<li class="card">
      <p class="head"><span class="kind">${inert(words(entry.type))}</span> <span class="badge">${words(entry.fault)}</span></p>
      <p class="ids"><code>${inert(entry.item_id)}</code></p>
      <p class="sentence">${inert(entry.message)}</p>
    </li>`)}</ul>`;
}

/** The difference of the prompt from that of the turn before. */
function Difference({ context }) {
  const { difference, items, usage } = context;
  if (!difference) return html`<p class="note">There is no turn before, so no cache has the beginning of this prompt.</p>`;
  const { added, removed } = difference;
  const equal = added.length === 0 && removed.length === 0;
  const breaks = !difference.same_instructions_and_tools
    ? "The model, the instructions or the tools differ, so the cache breaks before the first item."
    : equal
      ? "The items are equal."
      : `The cache breaks at byte ${count(difference.common_bytes)} of the items, after ${plural(difference.common_items, "equal item")}.`;
  const cached = usage.cached_tokens === null
    ? "The provider reported no cached tokens."
    : `The provider read ${count(usage.cached_tokens)} of ${count(usage.input_tokens ?? 0)} tokens from its cache.`;
  const name = (at) => [words(items[at].type), items[at].item_id ?? items[at].call_id].filter(Boolean).join(" ");
  return html`<p>${breaks} ${cached}</p>
    ${removed.length > 0 && html`<p class="removed">${plural(removed.length, "item")} of the turn before changed or went.</p>`}
    <ul class="difference">
      ${added.map((at) => html`<li class="added"><span aria-hidden="true">+</span> added <code>${inert(name(at))}</code></li>`)}
    </ul>`;
}

/** `#/t/ID/context` */
export function Context({ id, change, fail }) {
  const values = useLoaded([`/inspect/turns/${encodeURIComponent(id)}/context.json`, "/inspect/refused.json"], change, fail);
  if (!values) return html`<p class="note" role="status">Loading…</p>`;
  const [context, refused] = values;
  const refusal = refused.find((turn) => turn.request_id === id);
  const isRefused = context.status === "refused";
  const size = context.items.reduce((sum, entry) => sum + JSON.stringify(entry.item ?? "").length, 0);
  return html`<nav aria-label="Breadcrumb"><a href="#/">Conversations</a> / ${isRefused ? "refused turn" : html`<a href=${`#/t/${encodeURIComponent(id)}`}>turn</a>`}</nav>
    <h1>${isRefused ? "A refused turn: what it received" : "What the model was given"}</h1>
    <p class="ids"><code>${inert(id)}</code></p>
    <p class="facts">${plural(context.items.length, "item")} · about ${bytes(size)} · ${isRefused ? "never sent to a model" : context.exact
      ? "exactly as it was sent"
      : "items were deleted or changed since then"}</p>
    ${refusal?.continues && html`<p class="ids"><${Continued} turn=${refusal} /></p>`}
    ${refusal?.user && html`<p class="ids"><${User} turn=${refusal} /></p>`}
    ${context.error && html`<p class="error" role="alert"><${Fault} name=${refusal?.fault ?? (context.error.code || "error")} />:${" "}
      ${inert(context.error.message)}</p>`}
    ${!isRefused && html`<h2>Difference from the turn before</h2>
    <${Difference} context=${context} />`}
    <h2>Request</h2>
    <pre class="body" tabindex="0">${inert(JSON.stringify(context.request, null, 2))}</pre>
    <h2>Items</h2>
    <ol class="cards">${context.items.map((entry, at) => html`<${Item} key=${at} entry=${entry} at=${at} />`)}</ol>
    <${LeftOut} entries=${context.left_out} />
    ${context.translation && html`<h2>As ${inert(context.api ?? "another API")}</h2>
      <pre class="body" tabindex="0">${inert(JSON.stringify(context.translation, null, 2))}</pre>`}`;
}
