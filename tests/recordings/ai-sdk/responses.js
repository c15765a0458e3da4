// A server of the Responses API, as OpenAI's and Open Responses.

/** The events of an answer. */
export function events(answer, request) {
  const response = { id: `resp_${request}`, object: "response", created_at: 1767225600, model: "gpt-5" };
  const open = { ...response, status: "in_progress", output: [] };
  const items = answer.filter((said) => !said.error).flatMap((said, at) => item(said, at, request));
  const failed = answer.find((said) => said.error);
  const sent = [
    { type: "response.created", response: open },
    { type: "response.in_progress", response: open },
    ...items,
    failed ? failure(failed) : completion(response, items),
  ];
  return sent.map((event, sequence_number) => ({ event: event.type, data: { ...event, sequence_number } }));
}

function item(said, output_index, request) {
  if (said.reasoning) return reasoning(said, output_index, `rs_${request}`);
  if (said.search) return search(said, output_index);
  if (said.call) return said.text ? custom(said, output_index) : called(said, output_index);
  return message(said, output_index, `msg_${request}`);
}

function message({ text }, output_index, item_id) {
  const whole = text.join("");
  const base = { id: item_id, type: "message", role: "assistant" };
  const part = (text) => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const place = { item_id, output_index, content_index: 0 };
  return [
    added(output_index, { ...base, status: "in_progress", content: [] }),
    { type: "response.content_part.added", ...place, part: part("") },
    ...text.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
    { type: "response.output_text.done", ...place, text: whole, logprobs: [] },
    { type: "response.content_part.done", ...place, part: part(whole) },
    done(output_index, { ...base, status: "completed", content: [part(whole)] }),
  ];
}

function reasoning({ reasoning }, output_index, item_id) {
  const base = { id: item_id, type: "reasoning" };
  const part = (text) => ({ type: "summary_text", text });
  const parts = reasoning.flatMap((text, summary_index) => {
    const place = { item_id, output_index, summary_index };
    return [
      { type: "response.reasoning_summary_part.added", ...place, part: part("") },
      { type: "response.reasoning_summary_text.delta", ...place, delta: text },
      { type: "response.reasoning_summary_text.done", ...place, text },
      { type: "response.reasoning_summary_part.done", ...place, part: part(text) },
    ];
  });
  const summary = reasoning.map(part);
  return [
    added(output_index, { ...base, summary: [], encrypted_content: "gAAAAABbegun" }),
    ...parts,
    done(output_index, { ...base, summary, encrypted_content: "gAAAAABended" }),
  ];
}

function called({ call, tool, input }, output_index) {
  const id = call.replace("call_", "fc_");
  const base = { id, type: "function_call", call_id: call, name: tool };
  const place = { item_id: id, output_index };
  const event = (name) => `response.function_call_arguments.${name}`;
  return [
    added(output_index, { ...base, status: "in_progress", arguments: "" }),
    ...input.map((delta) => ({ type: event("delta"), ...place, delta })),
    { type: event("done"), ...place, arguments: input.join("") },
    done(output_index, { ...base, status: "completed", arguments: input.join("") }),
  ];
}

function custom({ call, tool, text }, output_index) {
  const id = call.replace("call_", "ctc_");
  const base = { id, type: "custom_tool_call", call_id: call, name: tool };
  const place = { item_id: id, output_index };
  const event = (name) => `response.custom_tool_call_input.${name}`;
  return [
    added(output_index, { ...base, status: "in_progress", input: "" }),
    ...text.map((delta) => ({ type: event("delta"), ...place, delta })),
    { type: event("done"), ...place, input: text.join("") },
    done(output_index, { ...base, status: "completed", input: text.join("") }),
  ];
}

function search({ search, query }, output_index) {
  const base = { id: search, type: "web_search_call" };
  return [
    added(output_index, { ...base, status: "in_progress" }),
    done(output_index, { ...base, status: "completed", action: { type: "search", query } }),
  ];
}

const added = (output_index, item) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index, item) => ({ type: "response.output_item.done", output_index, item });

function completion(response, items) {
  const output = items.filter((event) => event.type === "response.output_item.done");
  const usage = {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 34,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 46,
  };
  const completed = { ...response, status: "completed", output: output.map(({ item }) => item), usage };
  return { type: "response.completed", response: completed };
}

const failure = ({ error }) => ({
  type: "error",
  error: { type: "server_error", code: "server_error", message: error, param: "" },
});
