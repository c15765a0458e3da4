import { refuseOtherOptions, refuseOtherThanObject, refused } from "../arguments.js";
import { valueText } from "../json.js";
import { called, native } from "../native.js";
import type { AnthropicEvent, AnthropicMessage } from "./anthropic-events.js";
import { unixNow } from "./converted-events.js";
import { ConvertedStream } from "./converted-stream.js";
import { EventWriter, PartWriter } from "./input-writer.js";
import type { ResponseObject, ResponsesEvent } from "./responses-events.js";
import { partsOf } from "./source.js";
import type { StreamSource } from "./source.js";

/** The dialect of a stream: that of the AI SDK, or of an API. */
export type StreamDialect = "ai-sdk" | "responses" | "chat" | "anthropic";

/** Options of both conversions. */
export interface StreamOptions {
  /**
   * The dialect of the source; default `"ai-sdk"`. The events of an API can be objects, or the bytes
   * of an event stream: `toResponsesStream(response.body, { from: "chat" })`. Events of `"responses"`
   * are corrected: each call is one item, even if the server repeats it.
   */
  from?: StreamDialect;
  /**
   * The request, in the form of the Responses API. The answer repeats some of its fields (`model`,
   * `tools`, `tool_choice`, `metadata`, …). It also defines which tools are custom.
   */
  request?: object;
  /**
   * Aborting ends the answer as failed, with the code `aborted`, and cancels the source. Pass the
   * signal to `streamText` as well (`abortSignal`), because its result reads to the end otherwise.
   */
  signal?: AbortSignal;
}

/** Options of `toResponsesStream`. */
export interface ResponsesStreamOptions extends StreamOptions {
  /** The event names to use if OpenAI's and Open Responses' differ; default `"openai"`. */
  eventNames?: "openai" | "open-responses";
}

/** Converts stream parts of the AI SDK, or the events of an API, to a stream of the Responses API. */
export function toResponsesStream(
  source: StreamSource,
  options: ResponsesStreamOptions = {},
): ConvertedStream<ResponsesEvent, ResponseObject> {
  return converted("responses", source, options);
}

/**
 * Converts stream parts of the AI SDK, or the events of an API, to a stream of Anthropic's Messages
 * API.
 */
export function toAnthropicStream(
  source: StreamSource,
  options: StreamOptions = {},
): ConvertedStream<AnthropicEvent, AnthropicMessage> {
  return converted("anthropic", source, options);
}

function converted<E, R>(
  to: "responses" | "anthropic",
  source: StreamSource,
  options: ResponsesStreamOptions,
): ConvertedStream<E, R> {
  refuseOtherThanOptions(options, to);
  const { from = "ai-sdk", request, eventNames, signal } = options;
  const asked = request && valueText(request, "request");
  const conversion = called(() => new native.Conversion(from, to, asked, eventNames, unixNow()));
  const writer = from === "ai-sdk" ? new PartWriter() : new EventWriter();
  return new ConvertedStream(conversion, partsOf(source), writer, signal);
}

const DIALECTS: readonly unknown[] = [undefined, "ai-sdk", "responses", "chat", "anthropic"];

const EVENT_NAMES: readonly unknown[] = [undefined, "openai", "open-responses"];

function refuseOtherThanOptions(options: ResponsesStreamOptions, to: "responses" | "anthropic"): void {
  const known = ["from", "request", "signal", ...(to === "responses" ? ["eventNames"] : [])];
  refuseOtherOptions(options, known);
  const { from, request, eventNames, signal } = options;
  if (!DIALECTS.includes(from)) {
    throw new TypeError('from: must be "ai-sdk", "responses", "chat" or "anthropic".');
  }
  if (request !== undefined) refuseOtherThanObject(request, "request");
  if (signal !== undefined && !isSignal(signal)) {
    throw refused("signal", "must be an AbortSignal, such as `controller.signal`", signal);
  }
  if (!EVENT_NAMES.includes(eventNames)) {
    throw new TypeError('eventNames: must be "openai" or "open-responses".');
  }
}

/** Whether a value is an abort signal, possibly of another realm or a library. */
function isSignal(signal: unknown): boolean {
  if (typeof signal !== "object" || signal === null) return false;
  return "aborted" in signal && "addEventListener" in signal;
}
