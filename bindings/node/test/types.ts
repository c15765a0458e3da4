// A program that the compiler must accept, with marked errors. It does not run.

import OpenAI from "openai";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";

import {
  AntiphonError,
  Fault,
  Tracker,
  UnansweredCall,
  check,
  convert,
  deliver,
  filterOrphanedReasoning,
  reconcile,
  repair,
  strip,
  toAnthropicStream,
  toResponsesStream,
  statefulFetch,
} from "antiphon";
import type { Mend, Repaired, ResponsesEvent, TurnReport, Verdict } from "antiphon";

const input: ResponseInputItem[] = [{ role: "user", content: "hi" }];
const client = new OpenAI({ fetch: statefulFetch() });

export async function items(): Promise<void> {
  const faults: Fault[] = check(input, { held: input });
  const position: number | null | undefined = faults[0]?.position;
  const repaired: Repaired<ResponseInputItem> = repair(input, { policy: { calls: "drop" } });
  const mends: Mend[] = repaired.mends;
  await client.responses.create({ model: "m", input: repaired.items });
  await client.responses.create({ model: "m", input: strip(input, { conversation: "conv_1" }).items });
  await client.responses.create({ model: "m", input: filterOrphanedReasoning(input).items });
  const response = await client.responses.create({ model: "m", input });
  repair([...input, ...response.output]);
  const verdict: Verdict | undefined = reconcile(response.output, input)[0];
  if (verdict?.verdict === "resent") verdict.held.toFixed();
  if (verdict?.verdict === "late_output") verdict.madeUp.toFixed();
  void [position, mends];

  // @ts-expect-error: a text is not an item
  check(["hi"]);
  // @ts-expect-error: must be a list
  check(input[0]);
  // @ts-expect-error: unknown policy
  repair(input, { policy: "sometimes" });
  // @ts-expect-error: a field of other verdicts
  if (verdict?.verdict === "fresh") verdict.held;
}

export function tracked(): void {
  const tracker = new Tracker<ResponseInputItem>({ conversation: "conv_1", reasoningIds: "omit" });
  const attempt: number = tracker.send(tracker.add(input));
  const planned: ResponseInputItem[] = tracker.plan().items.map(({ item }) => item);
  const restored: Tracker<ResponseInputItem> = Tracker.fromJSON(tracker.toJSON());
  restored.accept(attempt, { id: "resp_1", output: planned });
  // @ts-expect-error: unknown option
  new Tracker({ conversationId: "conv_1" });
}

export function told(error: unknown): string | undefined {
  if (error instanceof UnansweredCall) return error.id ?? undefined;
  return error instanceof AntiphonError ? error.code : undefined;
}

export async function streams(signal: AbortSignal): Promise<Response> {
  const openai = createOpenAI({ fetch: statefulFetch({ fetch: globalThis.fetch }) });
  const run = () => streamText({ model: openai.responses("m"), prompt: "hi" });
  const stream = toResponsesStream(run(), { request: { model: "m" }, signal });
  for await (const event of stream) textOf(event);
  const { output } = await stream.finalResponse();
  const call = output.find((item) => item.type === "function_call");
  call?.arguments.toUpperCase();
  for await (const event of toAnthropicStream(run().fullStream)) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta") event.delta.text;
  }
  // @ts-expect-error: a text is not a source
  toResponsesStream("hi");
  return toAnthropicStream(run()).toResponse({ status: 200 });
}

function textOf(event: ResponsesEvent): string | undefined {
  switch (event.type) {
    case "response.output_text.delta":
      return event.delta;
    case "response.output_item.done":
      return event.item.type === "message" ? event.item.id : undefined;
    case "response.failed":
      return event.response.error?.message;
    default:
      return undefined;
  }
}

export function asTheSdk(event: ResponsesEvent): ResponseStreamEvent {
  switch (event.type) {
    case "response.content_part.done":
    case "response.output_text.delta":
    case "response.output_text.done":
    case "response.output_text.annotation.added":
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
    case "response.function_call_arguments.delta":
      return event;
    default:
      return event as ResponseStreamEvent;
  }
}

export const fetch = statefulFetch({ onReport: (report: TurnReport) => report.mends[0]?.message });

export const hasError = (client: OpenAI, text: string): boolean => {
  void deliver(client, "conv_1", []).then((posted: number) => posted);
  const { events, error } = convert(text, { from: "chat", to: "responses" });
  return error !== undefined || events.every((event: ResponsesEvent) => event.type !== "response.failed");
};
