// LangChain's chat model for the Responses API, its two deliveries, and its way to leave a stream.

import { ChatOpenAI } from "@langchain/openai";

import { MOMENTS } from "./leaving.js";

const TIMEOUT = 20_000;

const API = process.env.UPSTREAM_API ?? "responses";

/**
 * Whether a turn that broke off is tested. Anthropic's API joins user messages, so the model calls
 * the tool of that turn again, and here nothing forbids the call.
 */
export const BREAKS_OFF = API !== "anthropic";

/** The moments at which turns are left. */
export const SEEN_MOMENTS = BREAKS_OFF ? MOMENTS : [];

/** A model. `state` names what the Responses API is told of the conversation with every request. */
export function newModel(tenant, model, state = {}) {
  return new ChatOpenAI({
    model,
    apiKey: tenant.apiKey,
    configuration: { baseURL: tenant.baseURL },
    useResponsesApi: true,
    modelKwargs: state,
    maxRetries: 0,
    timeout: TIMEOUT,
  });
}

/** Each takes a model, messages and the options of a call, and returns one message. */
export const DELIVERIES = {
  invoke: (model, messages, options) => model.invoke(messages, options),
  stream: async (model, messages, options) => joined(await model.stream(messages, options)),
};

async function joined(chunks) {
  let message;
  for await (const chunk of chunks) message = message?.concat(chunk) ?? chunk;
  return message;
}

/** Reads a stream of chunks until it tells of the moment, and aborts: what was heard of it. */
export async function leave(start, moment) {
  const leaving = new AbortController();
  let heard;
  try {
    for await (const chunk of await start(leaving.signal)) {
      heard = heard?.concat(chunk) ?? chunk;
      if (tells(chunk, moment)) leaving.abort();
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
  return heard;
}

function tells(chunk, { place }) {
  switch (place) {
    case "in_reasoning":
      return Boolean(chunk.additional_kwargs.reasoning?.summary?.length);
    case "in_text":
      return chunk.text !== "";
    default:
      return (chunk.tool_call_chunks ?? []).some(({ args }) => args);
  }
}
