import { faultOf } from "../faults.js";
import { repair, type Mend, type Policy, type PolicyChoices } from "../repair.js";
import { assertModelMessages, assertOptions } from "./arguments.js";
import { applyRepair } from "./draft.js";
import { itemsOf, type Item, type MessageItems } from "./items.js";
import { kindsOf } from "./kinds.js";
import { withResultsAfterCalls } from "./late-results.js";
import { isNotEmpty, type Report } from "./report.js";
import type { Message, Part } from "./shapes.js";
import { sourcesOf } from "./sources.js";

/** Options of `mend`. */
export interface MendOptions {
  /** The same as in `repair`. */
  readonly policy?: Policy | undefined;
  /** Called with the repairs, if there are any. */
  readonly onReport?: ((report: Report) => void) | undefined;
}

/**
 * Repairs stored messages before `generateText` or `streamText`. Those functions reject a tool call
 * without a result before any model or middleware runs. They also reject a result that comes after
 * the user's next message; `mend` moves it directly after its call.
 *
 * Unchanged messages and parts stay the same objects. A call whose approval was just answered does
 * not change, because the SDK runs it.
 */
export function mend<M extends Message>(messages: readonly M[], options: MendOptions = {}): M[] {
  assertModelMessages(messages);
  assertOptions(options);
  const reading = { kinds: kindsOf(), hasServerState: false };
  const given = withDecisions(messages, itemsOf(messages, reading));
  const { policy = "repair", onReport } = options;
  const { items, mends } = repair(given.items, { policy });
  const repaired = applyRepair(messages, given, sourcesOf(given.items, items));
  const ordered = withResultsAfterCalls(repaired);
  const moves = ordered.moved.map((call) => moveOf(call, given.items));
  if (moves[0] && (policy === "reject" || (policy as PolicyChoices).calls === "reject")) {
    throw faultOf(moves[0]);
  }
  const report = { resent: 0, mends: [...mends, ...moves] };
  if (isNotEmpty(report)) onReport?.(report);
  return ordered.messages;
}

/** The repair of a moved result, with the error text for an unanswered call. */
function moveOf(call: string, items: readonly Item[]): Mend {
  const position = items.findIndex((item) => isOutput(item) && item["call_id"] === call);
  const message = `No tool output found for function call ${call}.`;
  const [fault, action] = ["unanswered_call", "moved"];
  const at = position < 0 ? null : position;
  return { position: at, id: null, fault, action, message, code: null, param: "input" };
}

/** Treats calls that were just approved or denied as answered, if they have no result. */
function withDecisions(messages: readonly Message[], given: MessageItems): MessageItems {
  const last = messages.length - 1;
  const decided = callsDecidedIn(messages, last);
  const answered = new Set(given.items.filter(isOutput).map(({ call_id }) => call_id));
  const items = [...given.items];
  const positions = [...given.positions];
  for (const [part, call_id] of decided) {
    if (answered.has(call_id)) continue;
    items.push({ type: "function_call_output", call_id, output: "decided" });
    positions.push({ message: last, parts: [part] });
  }
  return { items, positions };
}

function isOutput({ type }: Item): boolean {
  return type.endsWith("_output");
}

/** The part and the call id of each answered approval in a message. */
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
