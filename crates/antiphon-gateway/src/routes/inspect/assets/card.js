// Cards of items, and lanes of cards.

import { html, useState } from "./htm-preact.js";
import { bytes, count, inert, plural, pretty, words } from "./format.js";
import { Fault } from "./fault.js";
import { query, read } from "./server.js";

const PAGE = 50;

/** The words of a fate, and a sentence about it. */
function fateWords(fate) {
  switch (fate.fate) {
    case "known":
      return [`known by ${words(fate.rule)}`, fate.differs ? "Its content differs; the stored item counts." : ""];
    case "repaired":
      return [`repaired: ${words(fate.action)}`, fate.message];
    case "left_out":
      return ["left out", `${fate.message} The model did not receive this item.`];
    case "placeholder":
      return ["placeholder", fate.message];
    default:
      return [words(fate.fate), ""];
  }
}

function Fate({ fate }) {
  const [label, sentence] = fateWords(fate);
  return html`<div class="fate fate-${fate.fate}">
    <span class="badge">${label}</span>
    ${fate.fault && html`<${Fault} name=${fate.fault} />: `}
    ${sentence && html`<span class="sentence">${inert(sentence)}</span>`}
  </div>`;
}

/** One item. Cards of the same item are marked together while one has the pointer or the focus. */
export function Card({ card, marked, mark, approval }) {
  const [open, setOpen] = useState(false);
  const title = [words(card.kind), card.role].filter(Boolean).join(", ");
  const numbers = [bytes(card.bytes), card.tokens && `${count(card.tokens)} tokens`];
  return html`<li
    class=${marked === card.key ? "card marked" : "card"}
    data-key=${card.key}
    onMouseEnter=${() => mark(card.key)}
    onMouseLeave=${() => mark(null)}
    onfocusin=${() => mark(card.key)}
    onfocusout=${() => mark(null)}
  >
    <button type="button" class="head" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class="kind">${inert(title)}</span>
      <span class="numbers">${numbers.filter(Boolean).join(", ")}</span>
    </button>
    ${(card.id || card.call_id) &&
    html`<p class="ids">${[card.id, card.call_id].filter(Boolean).map((id) => html`<code>${inert(id)}</code> `)}</p>`}
    ${approval && html`<div class="fate"><span class="badge">${approval}</span></div>`}
    ${card.fates.map((fate) => html`<${Fate} fate=${fate} />`)}
    ${card.text && !open && html`<p class="text" dir="auto">${inert(card.text)}</p>`}
    ${open && html`<pre class="body" tabindex="0">${card.body ? inert(pretty(card.body)) : "The content is not shown."}</pre>`}
  </li>`;
}

/** A lane: the cards that it came with, and all others on demand. */
export function Lane({ turn, name, title, lane, marked, mark, approvals }) {
  const [pages, setPages] = useState(null);
  const [busy, setBusy] = useState(false);
  const cards = pages ? pages.cards : lane.cards;
  const more = async () => {
    setBusy(true);
    const path = `/inspect/turns/${encodeURIComponent(turn)}/lanes/${name}.json`;
    const page = await read(path + query({ after: pages?.next, limit: PAGE })).catch(() => null);
    setBusy(false);
    if (page) setPages({ cards: [...(pages?.cards ?? []), ...page.lane.cards], next: page.next });
  };
  const hidden = pages ? Boolean(pages.next) : lane.items > cards.length;
  return html`<div class="lane" role="group" aria-label=${title}>
    <h3>${title} <span class="numbers">${plural(lane.items, "item")}, ${bytes(lane.bytes)}</span></h3>
    ${!lane.exact && html`<p class="note">Items were repaired, or deleted since then: some of these may differ from those of the turn.</p>`}
    ${cards.length > 0
      ? html`<ul class="cards">
          ${cards.map((card, at) => html`<${Card} key=${`${card.key} ${at}`} card=${card} marked=${marked} mark=${mark}
            approval=${card.kind === "mcp_approval_request" && approvals?.get(card.id)} />`)}
        </ul>`
      : html`<p class="note">${lane.items ? "Nothing happened to these items." : "No items."}</p>`}
    ${hidden &&
    html`<button type="button" disabled=${busy} onClick=${more}>
      ${pages ? "Show more items" : `Show all ${plural(lane.items, "item")}`}
    </button>`}
  </div>`;
}
