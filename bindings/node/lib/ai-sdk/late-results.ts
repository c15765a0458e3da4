import { Draft } from "./draft.js";
import type { Message, Part } from "./shapes.js";

/** Messages with results directly after their calls. */
export interface Ordered<M> {
  readonly messages: M[];
  /** The call ids of the moved results. */
  readonly moved: readonly string[];
}

/**
 * Moves results directly after their calls if a user or system message is in between. The SDK would
 * treat those calls as unanswered.
 */
export function withResultsAfterCalls<M extends Message>(given: M[]): Ordered<M> {
  const late = lateResults(given);
  if (late.length === 0) return { messages: given, moved: [] };
  const draft = new Draft(given);
  for (const { call, message, part, result } of late) {
    draft.leaveOut({ message, parts: [part] });
    draft.answer(call, result);
  }
  return { messages: draft.messages(), moved: late.map(({ result }) => result.toolCallId ?? "") };
}

/** A result, its position, and the message of its call. */
interface LateResult {
  readonly call: number;
  readonly message: number;
  readonly part: number;
  readonly result: Part;
}

function lateResults(messages: readonly Message[]): LateResult[] {
  const late: LateResult[] = [];
  const waiting = new Map<string | undefined, number>();
  let interruption = -1;
  for (const [message, { role, content }] of messages.entries()) {
    if (role === "user" || role === "system") interruption = message;
    if (typeof content === "string") continue;
    for (const [part, result] of content.entries()) {
      const { type, toolCallId: id } = result;
      if (type === "tool-call" && !result.providerExecuted) waiting.set(id, message);
      if (role !== "tool" || type !== "tool-result") continue;
      const call = waiting.get(id);
      waiting.delete(id);
      if (call !== undefined && call < interruption) late.push({ call, message, part, result });
    }
  }
  return late;
}
