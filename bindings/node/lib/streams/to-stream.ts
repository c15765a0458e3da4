import { refuseOtherOptions, refuseOtherThanObject, refused } from "../arguments.js";
import { valueText } from "../json.js";
import { called, native } from "../native.js";
import type { AnthropicEvent, AnthropicMessage } from "./anthropic-events.js";
import { unixNow } from "./converted-events.js";
import { ConvertedStream } from "./converted-stream.js";
import type { ResponseObject, ResponsesEvent } from "./responses-events.js";
import { partsOf } from "./source.js";
import type { StreamSource } from "./source.js";

/** Options of both conversions. */
export interface StreamOptions {
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

/** Converts stream parts of the AI SDK to a stream of the Responses API. */
export function toResponsesStream(
  source: StreamSource,
  options: ResponsesStreamOptions = {},
): ConvertedStream<ResponsesEvent, ResponseObject> {
  return converted("responses", source, options);
}

/** Converts stream parts of the AI SDK to a stream of Anthropic's Messages API. */
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
  const { request, eventNames, signal } = options;
  const asked = request && valueText(request, "request");
  const conversion = called(
    () => new native.Conversion("ai-sdk", to, asked, eventNames, unixNow()),
  );
  return new ConvertedStream(conversion, partsOf(source), signal);
}

const EVENT_NAMES: readonly unknown[] = [undefined, "openai", "open-responses"];

function refuseOtherThanOptions(options: ResponsesStreamOptions, to: "responses" | "anthropic"): void {
  const known = ["request", "signal", ...(to === "responses" ? ["eventNames"] : [])];
  refuseOtherOptions(options, known);
  const { request, eventNames, signal } = options;
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
