import { faultOf } from "../faults.js";
import { repair, type Mend, type Policy, type PolicyChoices } from "../repair.js";
import { assertModelMessages, assertOptions } from "./arguments.js";
import { itemsOf, type Item, type Mapped } from "./items.js";
import { kindsOf } from "./kinds.js";
import { withResultsBehindCalls } from "./late-results.js";
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
 * refuse a tool call without a result themselves, before any model or middleware sees it. They do
 * so as well where a result comes later than the user's next message: it is moved behind its call.
 *
 * Messages and parts that nothing was done to stay the same objects. A call whose approval was just
 * answered is left to the SDK, which runs it.
 */
export function mend<M extends Message>(messages: readonly M[], options: MendOptions = {}): M[] {
  assertModelMessages(messages);
  assertOptions(options);
  const mapped = withDecided(messages, itemsOf(messages, { kinds: kindsOf(), besideState: false }));
  const { policy = "repair", onReport } = options;
  const { items, mends } = repair(mapped.items, { policy });
  const ordered = withResultsBehindCalls(mended(messages, mapped, sourcesOf(mapped.items, items)));
  const moves = ordered.moved.map((call) => moveOf(call, mapped.items));
  if (moves[0] && (policy === "reject" || (policy as PolicyChoices).calls === "reject")) {
    throw faultOf(moves[0]);
  }
  const report = { resent: 0, mends: [...mends, ...moves] };
  if (saysSomething(report)) onReport?.(report);
  return ordered.messages;
}

/** That the result of a call was moved, in the words for a call that seems to have none. */
function moveOf(call: string, items: readonly Item[]): Mend {
  const position = items.findIndex((item) => isOutput(item) && item["call_id"] === call);
  const message = `No tool output found for function call ${call}.`;
  const [fault, action] = ["unanswered_call", "moved"];
  const at = position < 0 ? null : position;
  return { position: at, id: null, fault, action, message, code: null, param: "input" };
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
