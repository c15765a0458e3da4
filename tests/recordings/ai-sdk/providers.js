// The AI SDK's providers, each in front of a server that plays fixed answers.

import * as anthropic from "./anthropic.js";
import * as chat from "./chat.js";
import * as responses from "./responses.js";

const BASE_URL = "http://upstream.example/v1";

/** By name: the provider's model, its server, and the tools that the provider itself runs. */
export const PROVIDERS = {
  openai: {
    server: responses,
    model: ({ createOpenAI }, fetch) =>
      createOpenAI({ baseURL: BASE_URL, apiKey: "none", fetch }).responses("gpt-5"),
    options: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
    search: { id: "openai.web_search", name: "web_search", args: {} },
  },
  "open-responses": {
    server: responses,
    model: ({ createOpenResponses }, fetch) =>
      createOpenResponses({ name: "upstream", url: `${BASE_URL}/responses`, apiKey: "none", fetch })("gpt-5"),
  },
  anthropic: {
    server: anthropic,
    model: ({ createAnthropic }, fetch) =>
      createAnthropic({ baseURL: BASE_URL, apiKey: "none", fetch })("claude-sonnet-4-5"),
    options: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
    search: { id: "anthropic.web_search_20250305", name: "web_search", args: {} },
  },
  "openai-compatible": {
    server: chat,
    model: ({ createOpenAICompatible }, fetch) =>
      createOpenAICompatible({ name: "upstream", baseURL: BASE_URL, includeUsage: true, fetch })(
        "deepseek-reasoner",
      ),
  },
};

/** A `fetch` that plays these answers, one for each request. */
export function playing(server, answers) {
  let request = 0;
  return async () => {
    const events = server.events(answers[request], ++request);
    const headers = { "content-type": "text/event-stream" };
    return new Response(events.map(toSse).join(""), { headers });
  };
}

function toSse({ event, data }) {
  const name = event ? `event: ${event}\n` : "";
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}
