// The inspector: shows the view that the fragment of the address names.

import { html, render, useEffect, useLayoutEffect, useState } from "./htm-preact.js";
import { inert } from "./format.js";
import { key, listen, read } from "./server.js";
import { List } from "./list.js";
import { Conversation } from "./conversation.js";
import { Context, TurnPage } from "./context.js";
import { FaultPage } from "./fault.js";
import { Playground } from "./playground.js";

/** The view and its parameters. */
function parse(hash) {
  const [view, id, part] = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  if (view === "c" && id) return { view: Conversation, id };
  if (view === "t" && id) return { view: part === "context" || id.startsWith("req_") ? Context : TurnPage, id };
  if (view === "f" && id) return { view: FaultPage, id };
  if (view === "play") return { view: Playground, conversation: id };
  return { view: List };
}

function KeyForm({ message, done }) {
  const [value, setValue] = useState("");
  return html`<h1>API key</h1>
    <form onSubmit=${(event) => {
      event.preventDefault();
      key.set(value.trim());
      done();
    }}>
      <label for="key">The key of your tenant. This tab keeps it until you close it.</label>
      <input id="key" type="password" autocomplete="off" value=${value} onInput=${(event) => setValue(event.target.value)} required />
      <button>Show conversations</button>
      ${message && html`<p class="error" role="alert">${inert(message)}</p>`}
    </form>`;
}

function App({ config }) {
  const [route, setRoute] = useState(parse(location.hash));
  const [change, setChange] = useState(0);
  const [failure, setFailure] = useState(null);
  const [session, setSession] = useState(0);
  // An effect of the layout, because a change before the first paint counts as well.
  useLayoutEffect(() => {
    const follow = () => {
      setFailure(null);
      setRoute(parse(location.hash));
      window.scrollTo(0, 0);
      document.getElementById("main")?.focus({ preventScroll: true });
    };
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    const leaving = new AbortController();
    let due = null;
    // Changes that come at once lead to one update.
    listen((heard) => {
      if (heard) due ??= setTimeout(() => {
        due = null;
        setChange((count) => count + 1);
      }, 250);
    }, leaving.signal);
    return () => leaving.abort();
  }, [session]);
  const restart = () => {
    setFailure(null);
    setSession(session + 1);
  };
  const asksForKey = failure?.status === 401 || (config.needs_key && !key.get());
  const { view: View, ...parameters } = route;
  return html`<a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("main").focus();
    }}>Skip to the content</a>
    <header class="top">
      <a class="name" href="#/">Antiphon <span>inspector</span></a>
      <nav aria-label="Views">
        <a href="#/">Conversations</a>
        ${config.allows_writes && html`<a href="#/play">Playground</a>`}
        ${key.get() && html`<button type="button" onClick=${() => {
          key.set("");
          restart();
        }}>Forget the key</button>`}
      </nav>
    </header>
    <main id="main" tabindex="-1">
      ${asksForKey
        ? html`<${KeyForm} message=${key.get() && failure?.message} done=${restart} />`
        : failure
          ? html`<h1>The view cannot be shown</h1><p class="error" role="alert">${inert(failure.message)}</p>
            <button type="button" onClick=${restart}>Try again</button>`
          : html`<${View} key=${`${session} ${location.hash}`} ...${parameters} change=${change} config=${config} fail=${setFailure} />`}
    </main>
    <footer>Version ${config.version}${config.allows_writes ? "" : ", read-only"}</footer>`;
}

const root = document.getElementById("app");
read("/inspect/config.json").then(
  (config) => {
    root.replaceChildren();
    render(html`<${App} config=${config} />`, root);
  },
  (error) => {
    root.textContent = error.message;
  },
);
