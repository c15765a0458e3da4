import type { Mend } from "../repair.js";
import type { ServerState } from "./server-state.js";
import type { Warning } from "./shapes.js";

/** What was done to a prompt before it was sent. */
export interface Report {
  /** How many of its items the server had already: they were left out. */
  readonly resent: number;
  /** What a provider would have refused, and what was done about it. */
  readonly mends: readonly Mend[];
  /** The conversation or the response that the call continues. */
  readonly state?: ServerState | undefined;
}

/** Whether there is something to be told. */
export function saysSomething({ resent, mends }: Report): boolean {
  return resent > 0 || mends.length > 0;
}

/** What was mended, as warnings of the call. What was only sent before is none. */
export function warningsOf({ mends }: Report): Warning[] {
  return mends.map(({ message, fault, action }) => ({
    type: "other",
    message: `antiphon mended the prompt (${fault}: ${action}): ${message}`,
  }));
}
