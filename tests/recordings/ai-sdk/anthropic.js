// A server of Anthropic's Messages API.

/** The events of an answer. */
export function events(answer, request) {
  const said = answer.filter((said) => !said.error).flatMap(block);
  const failed = answer.find((said) => said.error);
  const blocks = said.flatMap((events, index) => [
    { type: "content_block_start", index, content_block: events.start },
    ...events.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
  const sent = [begun(request), { type: "ping" }, ...blocks, ...(failed ? [failure(failed)] : end(answer))];
  return sent.map((data) => ({ event: data.type, data }));
}

function block(said) {
  if (said.reasoning) return [thinking(said)];
  if (said.search) return search(said);
  if (said.call) return [toolUse(said)];
  const deltas = said.text.map((text) => ({ type: "text_delta", text }));
  return [{ start: { type: "text", text: "" }, deltas }];
}

const thinking = ({ reasoning }) => ({
  start: { type: "thinking", thinking: "", signature: "" },
  deltas: [
    ...reasoning.map((thinking) => ({ type: "thinking_delta", thinking })),
    { type: "signature_delta", signature: "EqQBsigned" },
  ],
});

const toolUse = ({ call, tool, input }) => ({
  start: { type: "tool_use", id: call, name: tool, input: {} },
  deltas: json(input),
});

const search = ({ search, query, url }) => [
  {
    start: { type: "server_tool_use", id: search, name: "web_search", input: {} },
    deltas: json([JSON.stringify({ query })]),
  },
  {
    start: {
      type: "web_search_tool_result",
      tool_use_id: search,
      content: [
        {
          type: "web_search_result",
          url,
          title: "Paris",
          encrypted_content: "EqgfCio",
          page_age: null,
        },
      ],
    },
    deltas: [],
  },
];

const json = (pieces) => ["", ...pieces].map((partial_json) => ({ type: "input_json_delta", partial_json }));

const begun = (request) => ({
  type: "message_start",
  message: {
    id: `msg_${request}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 1 },
  },
});

function end(answer) {
  const stop_reason = answer.some((said) => said.call) ? "tool_use" : "end_turn";
  return [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 34 } },
    { type: "message_stop" },
  ];
}

const failure = ({ error }) => ({ type: "error", error: { type: "overloaded_error", message: error } });
