// One conversation: its turns downwards, each with four lanes.

import { html, useEffect, useRef, useState } from "./htm-preact.js";
import { cost, inert, plural, time, tokens } from "./format.js";
import { query, read } from "./server.js";
import { Lane } from "./card.js";
import { Facts, Metadata, RefusedTurns, State, refusedOf } from "./list.js";
import { ConversationActs, TurnActs } from "./acts.js";
import { approvals } from "./answers.js";

const PAGE = 20;

const LANES = [
  ["received", "Received"],
  ["stored_before", "Stored before"],
  ["sent", "Sent to the model"],
  ["returned", "Returned"],
];

/** A turn. `mark` marks all cards of an item; `answered` has the answers to approval requests. */
export function Turn({ turn, marked, mark, config, changed, answered }) {
  const facts = [
    turn.model,
    time(turn.created_at),
    tokens(turn.tokens) && `${tokens(turn.tokens)} tokens`,
    cost(turn.cost),
  ];
  const address = `#/t/${encodeURIComponent(turn.id)}`;
  return html`<article class="turn" id=${turn.id} aria-label=${`Turn ${turn.id}`}>
    <header>
      <h2><a href=${address}><code>${inert(turn.id)}</code></a></h2>
      <span class=${`state state-${turn.status}`}><span class="badge">${turn.status}</span></span>
      <p class="facts">${facts.filter(Boolean).join(" · ")}</p>
      ${turn.previous && html`<p class="ids">after <code>${inert(turn.previous)}</code></p>`}
      ${turn.error && html`<p class="error">${inert(`${turn.error.code}: ${turn.error.message}`)}</p>`}
      ${config.shows_bodies && html`<p><a href=${`${address}/context`}>What the model was given</a></p>`}
    </header>
    <div class="lanes">
      ${LANES.map(([name, title]) => html`<${Lane} key=${name} turn=${turn.id} name=${name} title=${title}
        lane=${turn[name]} marked=${marked} mark=${mark} approvals=${answered} />`)}
    </div>
    ${config.allows_writes && html`<${TurnActs} turn=${turn} config=${config} changed=${changed} />`}
  </article>`;
}

/** The state of the conversation at present: lease, queue, open turn. */
function Live({ live }) {
  if (!live.leased) return null;
  const parts = [
    live.background ? "A background turn runs" : "A turn runs",
    live.response && `(${live.response})`,
    live.queued > 0 && `; ${plural(live.queued, "turn")} wait`,
  ];
  return html`<p class="live" role="status">${parts.filter(Boolean).join(" ")}.</p>`;
}

/** All turns that share items, with those of the page marked. */
function Tree({ tree }) {
  if (tree.every((turn) => turn.shown)) return null;
  const children = (parent) => tree.filter((turn) => turn.parent === parent);
  const known = new Set(tree.map((turn) => turn.response));
  const roots = tree.filter((turn) => !turn.parent || !known.has(turn.parent));
  // A line without forks stays on one level, so that long chains have no depth.
  const lines = (turns, depth) => turns.flatMap((turn) => {
    const below = children(turn.response);
    return [[turn, depth], ...lines(below, below.length > 1 ? depth + 1 : depth)];
  });
  return html`<details class="tree" open=${tree.length < 40}>
    <summary>Forks: ${plural(tree.length, "turn")}</summary>
    <ul>
      ${lines(roots, 0).map(([turn, depth]) => html`<li class=${`depth-${Math.min(depth, 6)}`}>
        <a href=${`#/c/${encodeURIComponent(turn.response)}`} aria-current=${turn.shown ? "true" : undefined}>
          <code>${inert(turn.response)}</code></a>${turn.shown && " (shown)"}
      </li>`)}
    </ul>
  </details>`;
}

/** `#/c/ID`: the turns are loaded page by page as they come into view. */
export function Conversation({ id, change, config, fail }) {
  const [view, setView] = useState(null);
  const [wanted, setWanted] = useState(1);
  const [marked, mark] = useState(null);
  const [edits, setEdits] = useState(0);
  const [refused, setRefused] = useState([]);
  const end = useRef(null);
  useEffect(() => {
    const leaving = new AbortController();
    const load = async () => {
      let found = null;
      for (let page = 0; page < wanted; page += 1) {
        const path = `/inspect/conversations/${encodeURIComponent(id)}.json`;
        const next = await read(path + query({ after: found?.next, limit: PAGE }), { signal: leaving.signal });
        found = { ...next, turns: [...(found?.turns ?? []), ...next.turns] };
        if (!next.next) break;
      }
      setView(found);
      setRefused(await read("/inspect/refused.json", { signal: leaving.signal }));
    };
    load().catch((error) => leaving.signal.aborted || fail(error));
    return () => leaving.abort();
  }, [id, wanted, change, edits]);
  useEffect(() => {
    if (!view?.next || !end.current) return undefined;
    const seen = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setWanted(wanted + 1);
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [view]);
  if (!view) return html`<p class="note" role="status">Loading…</p>`;
  const { summary, turns, tree, live } = view;
  const changed = () => setEdits((count) => count + 1);
  const answered = approvals(turns);
  return html`<nav aria-label="Breadcrumb"><a href="#/">Conversations</a></nav>
    <h1><bdi>${inert(summary.title ?? summary.id)}</bdi></h1>
    <p class="ids"><code>${inert(summary.id)}</code></p>
    <p><${State} state=${summary.state} /></p>
    <${Facts} summary=${summary} />
    <${RefusedTurns} turns=${refusedOf(summary, refused)} />
    <${Metadata} metadata=${summary.metadata} />
    <${Live} live=${live} />
    ${config.allows_writes && html`<${ConversationActs} view=${view} changed=${changed} />`}
    <${Tree} tree=${tree} />
    ${turns.length === 0 && html`<p class="note">No turns yet.</p>`}
    ${turns.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} marked=${marked} mark=${mark}
      config=${config} changed=${changed} answered=${answered} />`)}
    ${view.next && html`<p ref=${end} class="note" role="status">Loading more turns…</p>`}`;
}
