import type { Mend } from "../repair.js";
import type { ServerState } from "./server-state.js";
import type { Warning } from "./shapes.js";

/** The changes of a prompt before it was sent. */
export interface Report {
  /** The number of items that were left out because the server already held them. */
  readonly resent: number;
  /** The repairs. */
  readonly mends: readonly Mend[];
  /** The conversation or the response that the call continues. */
  readonly state?: ServerState | undefined;
}

/** Whether a report contains any changes. */
export function isNotEmpty({ resent, mends }: Report): boolean {
  return resent > 0 || mends.length > 0;
}

/** The repairs as warnings of the call. Resent items cause no warning. */
export function warningsOf({ mends }: Report): Warning[] {
  return mends.map(({ message, fault, action }) => ({
    type: "other",
    message: `antiphon repaired the prompt (${fault}: ${action}): ${message}`,
  }));
}
