// A turn by hand.

import { html, useEffect, useState } from "./htm-preact.js";
import { inert } from "./format.js";
import { read, send } from "./server.js";

const HEADERS = ["antiphon-resent", "antiphon-repairs", "antiphon-truncated", "antiphon-answered-again"];

function text(response) {
  const parts = response.output.flatMap((item) => item.content ?? []);
  const said = parts.map((part) => part.text ?? "").join("");
  const calls = response.output.filter((item) => item.call_id).map((item) => `${item.name ?? item.type} ${item.arguments ?? ""}`);
  return [said, ...calls].filter(Boolean).join("\n");
}

/** `#/play`, `#/play/CONVERSATION` */
export function Playground({ conversation: given }) {
  const [models, setModels] = useState([]);
  const [form, setForm] = useState({ model: "sim", conversation: given ?? "", instructions: "", input: "" });
  const [result, setResult] = useState(null);
  useEffect(() => {
    read("/v1/models").then((list) => setModels(list.data.map((model) => model.id))).catch(() => {});
  }, []);
  const field = (name) => ({
    id: name,
    name,
    value: form[name],
    onInput: (event) => setForm({ ...form, [name]: event.target.value }),
  });
  const submit = async (event) => {
    event.preventDefault();
    setResult({ note: "The model answers…" });
    try {
      let conversation = form.conversation.trim();
      if (!conversation) {
        conversation = (await send("POST", "/v1/conversations", {})).body.id;
        setForm({ ...form, conversation });
      }
      const request = { model: form.model, input: form.input, conversation };
      if (form.instructions) request.instructions = form.instructions;
      const { body, headers } = await send("POST", "/v1/responses", request);
      const reported = HEADERS.filter((name) => headers.get(name)).map((name) => `${name}: ${headers.get(name)}`);
      setResult({ body, reported, conversation });
    } catch (error) {
      setResult({ error: error.message });
    }
  };
  return html`<nav aria-label="Breadcrumb"><a href="#/">Conversations</a></nav>
    <h1>Playground</h1>
    <form class="playground" onSubmit=${submit}>
      <label for="model">Model</label>
      <input ...${field("model")} list="models" required />
      <datalist id="models">${models.map((model) => html`<option value=${model} />`)}</datalist>
      <label for="conversation">Conversation (empty for a new one)</label>
      <input ...${field("conversation")} />
      <label for="instructions">Instructions</label>
      <textarea ...${field("instructions")} rows="2"></textarea>
      <label for="input">Input</label>
      <textarea ...${field("input")} rows="4" required></textarea>
      <button>Send</button>
    </form>
    <div role="status">
      ${result?.note && html`<p class="note">${result.note}</p>`}
      ${result?.error && html`<p class="error">${inert(result.error)}</p>`}
      ${result?.body && html`<p class="text answer" dir="auto">${inert(text(result.body))}</p>
        ${result.reported.map((line) => html`<p class="ids"><code>${inert(line)}</code></p>`)}
        <p><a href=${`#/c/${encodeURIComponent(result.conversation)}`}>Show the conversation</a></p>`}
    </div>`;
}
