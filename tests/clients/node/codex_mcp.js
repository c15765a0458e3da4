// A server of the Model Context Protocol with one tool, `repeat(text) -> text`, over its standard
// streams. Codex declares the tools of such a server within a namespace.

import { createInterface } from "node:readline";

const REPEAT = {
  name: "repeat",
  description: "Says the text again.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "parrot", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [REPEAT] }),
  "tools/call": (params) => ({
    content: [{ type: "text", text: `parrot says ${params.arguments.text}` }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  // A message without an id wants no answer.
  if (id === undefined) continue;
  const answer = METHODS[method]
    ? { result: METHODS[method](params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
