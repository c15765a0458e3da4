import { repair, type Policy } from "../repair.js";
import { itemsOf, type Item, type Mapped } from "./items.js";
import { kindsOf } from "./kinds.js";
import { mended } from "./mended.js";
import { saysSomething, type Report } from "./report.js";
import type { Message, Part } from "./shapes.js";
import { sourcesOf } from "./sources.js";

/** How messages are mended. */
export interface MendOptions {
  /** As for `repair`. */
  readonly policy?: Policy | undefined;
  /** Is told what was mended. */
  readonly onReport?: ((report: Report) => void) | undefined;
}

/**
 * Mends the messages that a program keeps, before `generateText` or `streamText` gets them: those
 * refuse a tool call without a result themselves, before any model or middleware sees it.
 *
 * Messages and parts that nothing was done to stay the same objects. A call whose approval was just
 * answered is left to the SDK, which runs it.
 */
export function mend<M extends Message>(messages: readonly M[], options: MendOptions = {}): M[] {
  const mapped = withDecided(messages, itemsOf(messages, { kinds: kindsOf(), besideState: false }));
  const { items, mends } = repair(mapped.items, { policy: options.policy ?? "repair" });
  const report = { resent: 0, mends };
  if (saysSomething(report)) options.onReport?.(report);
  return mended(messages, mapped, sourcesOf(mapped.items, items));
}

/**
 * Calls that were approved or denied just now are answered by that, as long as they have no result.
 */
function withDecided(messages: readonly Message[], mapped: Mapped): Mapped {
  const last = messages.length - 1;
  const decided = callsDecidedIn(messages, last);
  const answered = new Set(mapped.items.filter(isOutput).map(({ call_id }) => call_id));
  const items = [...mapped.items];
  const places = [...mapped.places];
  for (const [part, call_id] of decided) {
    if (answered.has(call_id)) continue;
    items.push({ type: "function_call_output", call_id, output: "decided" });
    places.push({ message: last, parts: [part] });
  }
  return { items, places };
}

function isOutput({ type }: Item): boolean {
  return type.endsWith("_output");
}

/** For each answered approval in a message its part and the call that it is about. */
function callsDecidedIn(messages: readonly Message[], message: number): [number, string][] {
  const calls = new Map<string | undefined, string | undefined>();
  for (const { content } of messages) {
    for (const part of partsIn(content)) {
      if (part.type === "tool-approval-request") calls.set(part.approvalId, part.toolCallId);
    }
  }
  return partsIn(messages[message]?.content ?? []).flatMap(({ type, approvalId }, part) => {
    const call = type === "tool-approval-response" ? calls.get(approvalId) : undefined;
    return call === undefined ? [] : [[part, call] as [number, string]];
  });
}

function partsIn(content: Message["content"]): readonly Part[] {
  return typeof content === "string" ? [] : content;
}
