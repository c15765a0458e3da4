import { refuseOtherOptions, refuseOtherThanObject, refused } from "../arguments.js";
import { valueText } from "../json.js";
import { called, native } from "../native.js";
import type { AnthropicEvent, AnthropicMessage } from "./anthropic-events.js";
import { ConvertedStream } from "./converted-stream.js";
import type { ResponseObject, ResponsesEvent } from "./responses-events.js";
import { partsOf } from "./source.js";
import type { StreamSource } from "./source.js";
import { unixNow } from "./told.js";

/** What a stream is made with. */
export interface StreamOptions {
  /**
   * The request that is answered, as the Responses API has it: what the answer repeats of it (`model`,
   * `tools`, `tool_choice`, `metadata`, …), and which of its tools are custom.
   */
  request?: object;
  /**
   * Ends the answer as failed, with the code `aborted`, and stops the source. `streamText` needs it too,
   * as its `abortSignal`: its result reads on when it is left.
   */
  signal?: AbortSignal;
}

/** What a stream of the Responses API is made with. */
export interface ResponsesStreamOptions extends StreamOptions {
  /** Whose names events bear, where OpenAI's and those of Open Responses differ: `"openai"`. */
  eventNames?: "openai" | "open-responses";
}

/** Stream parts of the AI SDK as a stream of the Responses API. */
export function toResponsesStream(
  source: StreamSource,
  options: ResponsesStreamOptions = {},
): ConvertedStream<ResponsesEvent, ResponseObject> {
  return converted("responses", source, options);
}

/** Stream parts of the AI SDK as a stream of Anthropic's Messages API. */
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
    throw refused("signal", "an AbortSignal is needed, as `controller.signal` is", signal);
  }
  if (!EVENT_NAMES.includes(eventNames)) {
    throw new TypeError('eventNames: "openai" or "open-responses" is needed.');
  }
}

/** Also one of another realm, or of a library. */
function isSignal(signal: unknown): boolean {
  if (typeof signal !== "object" || signal === null) return false;
  return "aborted" in signal && "addEventListener" in signal;
}
