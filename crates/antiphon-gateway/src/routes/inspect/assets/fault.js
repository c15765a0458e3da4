// Faults: links to their descriptions, and the descriptions.

import { html, useEffect, useState } from "./htm-preact.js";
import { inert } from "./format.js";
import { read } from "./server.js";

/** The descriptions, which are read once. */
let pages = null;
const readPages = () => (pages ??= read("/inspect/faults.json"));

/** The name of a fault, as a link to its description if it has one. */
export function Fault({ name }) {
  const [described, setDescribed] = useState(false);
  useEffect(() => {
    readPages().then((found) => setDescribed(found.some((page) => page.name === name)), () => {});
  }, [name]);
  if (!described) return html`<code>${inert(name)}</code>`;
  return html`<a href=${`#/f/${encodeURIComponent(name)}`}>${inert(name)}</a>`;
}

/** The blocks of a description: headings, lists, code and paragraphs. */
export function blocksOf(text) {
  const blocks = [];
  let fence = null;
  for (const line of text.split("\n")) {
    const last = blocks.at(-1);
    if (line.startsWith("```")) {
      fence = fence ? null : { kind: "code", lines: [] };
      if (fence) blocks.push(fence);
    } else if (fence) fence.lines.push(line);
    else if (line.startsWith("#")) blocks.push({ kind: line.startsWith("##") ? "part" : "title", lines: [line.replace(/^#+ /, "")] });
    else if (line.startsWith("    ")) blocks.push({ kind: "error", lines: [line.trim()] });
    else if (line.startsWith("- ")) {
      if (last?.kind === "list") last.lines.push(line.slice(2));
      else blocks.push({ kind: "list", lines: [line.slice(2)] });
    } else if (line.trim() === "") blocks.push({ kind: "end", lines: [] });
    else if (last?.kind === "list") last.lines.push(`${last.lines.pop()} ${line.trim()}`);
    else if (last?.kind === "text") last.lines.push(line);
    else blocks.push({ kind: "text", lines: [line] });
  }
  return blocks.filter((block) => block.kind !== "end");
}

/** Text with code between backquotes. */
function Line({ text }) {
  return text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));
}

function Block({ block: { kind, lines } }) {
  switch (kind) {
    case "title": return html`<h1><code>${lines[0]}</code></h1>`;
    case "part": return html`<h2>${lines[0]}</h2>`;
    case "error": return html`<p class="error">${lines[0]}</p>`;
    case "code": return html`<pre class="body" tabindex="0">${lines.join("\n")}</pre>`;
    case "list": return html`<ul class="points">${lines.map((text) => html`<li><${Line} text=${text} /></li>`)}</ul>`;
    default: return html`<p><${Line} text=${lines.join(" ")} /></p>`;
  }
}

/** `#/f/NAME`: the causes of a fault, an example, and its fix. */
export function FaultPage({ id, fail }) {
  const [page, setPage] = useState(null);
  useEffect(() => {
    readPages()
      .then((found) => setPage(found.find(({ name }) => name === id) ?? { text: `# ${id}\n\nThis fault has no description.` }))
      .catch(fail);
  }, [id]);
  if (!page) return html`<p class="note" role="status">Loading…</p>`;
  return html`<nav aria-label="Breadcrumb"><a href="#/">Conversations</a></nav>
    <div class="fault">${blocksOf(page.text).map((block) => html`<${Block} block=${block} />`)}</div>`;
}
