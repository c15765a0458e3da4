import type { Report } from "../native.js";

/** What was done to a request before it was sent. */
export interface TurnReport {
  /** How many items of the input were left out, since the server held them already. */
  resent: number;
  /** What was mended. */
  mends: TurnMend[];
  /** The code of what the server refused, whereupon the request was sent once more, otherwise. */
  relearned?: string;
  /** Whether the server does not tell what it holds, so that items were left out by their kind. */
  byKind: boolean;
}

/** Something that the server would have refused or doubled, and what was done about it. */
export interface TurnMend {
  /** The item's position in the input; null for an item that the server holds. */
  position: number | null;
  /** The item's id, where it has one. */
  id: string | null;
  /** What the item is: `"function_call"`. */
  kind: string;
  /** The fault's name: `"unanswered_call"`. */
  fault: string;
  /** What was done about it: `"answered"`. */
  action: string;
  /** The server's words for the fault. */
  message: string;
}

/** What is told of a request; nothing where nothing was done. */
export function noteworthy({ headers: _, ...report }: Report): TurnReport | undefined {
  const isOfNote = report.resent > 0 || report.mends.length > 0 || report.relearned !== undefined;
  return isOfNote ? report : undefined;
}

/**
 * Tells of a request. Its answer is on the way by then, so a listener that throws does not cost it: that
 * is a warning of the process.
 */
export function told(onReport: (report: TurnReport) => void, report: TurnReport): void {
  const tell = async () => onReport(report);
  tell().catch((error: unknown) => {
    const message = `onReport failed: ${String(error)}`;
    process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_REPORT" });
  });
}

/** Tells whoever runs the process what was mended, in a warning. */
export function emitWarningOfMends({ mends }: TurnReport): void {
  if (mends.length === 0) return;
  const done = mends.map(({ fault, id, action }) => `${fault}${id ? ` (${id})` : ""} ${action}`);
  const message = `A request was mended before it was sent: ${done.join(", ")}`;
  process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_MENDED" });
}
