import { refuseOtherOptions, refuseOtherThanObject, refused } from "./arguments.js";
import { valueText } from "./json.js";
import { called, native } from "./native.js";
import type { AnthropicEvent, AnthropicMessage } from "./streams/anthropic-events.js";
import type { ChatChunk, ChatCompletion, ChatError } from "./streams/chat-chunks.js";
import { unixNow } from "./streams/converted-events.js";
import { lineOf } from "./streams/part.js";
import type { ResponseObject, ResponsesEvent } from "./streams/responses-events.js";

/** The API of an answer. `ai-sdk` is the stream parts of the AI SDK. */
export type Dialect = "responses" | "chat" | "anthropic" | "ai-sdk";

/** A dialect to which answers are converted. */
export type Target = "responses" | "chat" | "anthropic";

/** Options of `convert`. */
export interface ConvertOptions<To extends Target> {
  /** The dialect of the given answer. */
  from: Dialect;
  /** The dialect of the result. */
  to: To;
  /**
   * The answered request, in the form of the Responses API. The answer repeats its fields, and it
   * defines which tools are custom.
   */
  request?: object;
  /** The event names to use if OpenAI's and Open Responses' differ; default `"openai"`. */
  eventNames?: "openai" | "open-responses";
}

/** An answer in another dialect. */
export interface Converted<Event, Answer> {
  /** The events of the answer as a stream, without `[DONE]`. The last one is terminal. */
  events: Event[];
  /** The whole answer as one object. It has status `failed` or an `error` if it failed. */
  answer: Answer;
  /** A sentence for each correction and omission. */
  notes: string[];
  /** The fault in the given answer, if it has one: not an answer of its dialect, or cut off. */
  error?: string;
}

/**
 * Converts a streamed answer to well-formed events of another dialect, or of its own.
 *
 * `answer` is an event stream as sent over HTTP, one JSON object per line, or the events themselves.
 * Each call is one item with one id, and the last event is terminal, for any answer. A faulty answer
 * ends as failed, and `error` names the fault. For an answer that is still arriving, use
 * `toResponsesStream` or `toAnthropicStream`.
 */
export function convert(
  answer: string | Uint8Array | Iterable<object>,
  options: ConvertOptions<"responses">,
): Converted<ResponsesEvent, ResponseObject>;
export function convert(
  answer: string | Uint8Array | Iterable<object>,
  options: ConvertOptions<"chat">,
): Converted<ChatChunk | ChatError, ChatCompletion>;
export function convert(
  answer: string | Uint8Array | Iterable<object>,
  options: ConvertOptions<"anthropic">,
): Converted<AnthropicEvent, AnthropicMessage>;
export function convert(
  answer: string | Uint8Array | Iterable<object>,
  options: ConvertOptions<Target>,
): Converted<unknown, unknown> {
  refuseOtherOptions(options, ["from", "to", "request", "eventNames"]);
  const { from, to, request, eventNames } = options;
  if (request !== undefined) refuseOtherThanObject(request, "request");
  const asked = request && valueText(request, "request");
  const text = textOf(answer);
  const conversion = called(
    () => new native.Conversion(String(from), String(to), asked, eventNames, unixNow()),
  );
  const events = conversion.push(text);
  const end = conversion.finish(unixNow());
  if (end === null) throw new Error("The conversion had ended.");
  return {
    events: [...events, ...end.events].map((event) => JSON.parse(event) as unknown),
    answer: JSON.parse(end.folded) as unknown,
    notes: end.notes,
    ...(end.error !== undefined && { error: end.error }),
  };
}

/** The text of an answer; objects become one line each. */
function textOf(answer: string | Uint8Array | Iterable<object>): string {
  if (typeof answer === "string") return answer;
  if (answer instanceof Uint8Array) return new TextDecoder().decode(answer);
  if (typeof answer !== "object" || answer === null || !(Symbol.iterator in answer)) {
    throw refused("answer", "must be a text, bytes, or an array of events", answer);
  }
  return Array.from(answer, lineOf).join("");
}
