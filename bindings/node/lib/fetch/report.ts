import type { Report } from "../native.js";

/** The changes of a request before it was sent. */
export interface TurnReport {
  /** The number of input items that were left out because the server already held them. */
  resent: number;
  /** The repairs. */
  mends: TurnMend[];
  /** The fault for which the server rejected the first attempt, before the retry. */
  relearned?: string;
  /** Whether the server refused to list its items, so that items were left out by type. */
  byKind: boolean;
}

/** One repair: a fault that the server would have rejected or stored twice, and the action. */
export interface TurnMend {
  /** The item's position in the input; null for an item that the server holds. */
  position: number | null;
  /** The item's id, if it has one. */
  id: string | null;
  /** The item's type, such as `"function_call"`. */
  kind: string;
  /** The fault's name, such as `"unanswered_call"`. */
  fault: string;
  /** The action, such as `"answered"`. */
  action: string;
  /** The server's error text for the fault. */
  message: string;
}

/** The report of a request, if the request was changed. */
export function nonEmptyReport({ headers: _, ...report }: Report): TurnReport | undefined {
  const isChanged = report.resent > 0 || report.mends.length > 0 || report.relearned !== undefined;
  return isChanged ? report : undefined;
}

/**
 * Calls `onReport`. If it throws, emits a process warning instead of an error, because the answer
 * of the request has arrived.
 */
export function callReporter(onReport: (report: TurnReport) => void, report: TurnReport): void {
  const call = async () => onReport(report);
  call().catch((error: unknown) => {
    const message = `onReport failed: ${String(error)}`;
    process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_REPORT" });
  });
}

/** Emits a process warning with the repairs. */
export function emitWarningOfMends({ mends }: TurnReport): void {
  if (mends.length === 0) return;
  const done = mends.map(({ fault, id, action }) => `${fault}${id ? ` (${id})` : ""} ${action}`);
  const message = `A request was repaired before it was sent: ${done.join(", ")}`;
  process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_MENDED" });
}
