// A server of Chat Completions, with reasoning as DeepSeek and vLLM give it.

/** The events of an answer. */
export function events(answer, request) {
  const calls = answer.filter((said) => said.call);
  const deltas = answer.flatMap((said) => {
    if (said.error) return [];
    if (said.reasoning) return said.reasoning.map((reasoning_content) => ({ reasoning_content }));
    if (said.call) return called(said, calls.indexOf(said));
    return said.text.map((content) => ({ content }));
  });
  const failed = answer.find((said) => said.error);
  const sent = [
    choice({ role: "assistant", content: "" }),
    ...deltas.map((delta) => choice(delta)),
    ...(failed ? [failure(failed)] : end(calls.length > 0)),
  ];
  const chunk = {
    id: `chatcmpl-${request}`,
    object: "chat.completion.chunk",
    created: 1767225600,
    model: "deepseek-reasoner",
  };
  const chunks = sent.map((data) => ({ data: data.error ? data : { ...chunk, ...data } }));
  return [...chunks, { data: "[DONE]" }];
}

const choice = (delta, finish_reason = null) => ({ choices: [{ index: 0, delta, finish_reason }] });

function called({ call, tool, input }, index) {
  const piece = (it) => ({ tool_calls: [{ index, ...it }] });
  return [
    piece({ id: call, type: "function", function: { name: tool, arguments: "" } }),
    ...input.map((piece_) => piece({ function: { arguments: piece_ } })),
  ];
}

const end = (calls) => [
  choice({}, calls ? "tool_calls" : "stop"),
  {
    choices: [],
    usage: {
      prompt_tokens: 12,
      completion_tokens: 34,
      total_tokens: 46,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  },
];

const failure = ({ error }) => ({
  error: { message: error, type: "server_error", param: null, code: "server_error" },
});
