/** What was done to a request before it was sent. */
export interface TurnReport {
  /** How many items of the input were left out, since the server held them already. */
  resent: number;
  /** What was mended. */
  mends: TurnMend[];
}

/** One thing that was mended. */
export interface TurnMend {
  /** The fault's name: `"unanswered_call"`. */
  fault: string;
  /** What was done about it: `"answered"`. */
  action: string;
}

/** Whether anything was done. */
export function isOfNote({ resent, mends }: TurnReport): boolean {
  return resent > 0 || mends.length > 0;
}

/** `fault=N, …`, by name. */
export function repairsOf({ mends }: TurnReport): string {
  const counts = new Map<string, number>();
  for (const { fault } of mends) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  const sorted = [...counts].sort(([one], [two]) => (one < two ? -1 : 1));
  return sorted.map(([fault, count]) => `${fault}=${count}`).join(", ");
}

/** Tells whoever runs the process what was mended, in a warning. */
export function emitWarningOfMends(report: TurnReport): void {
  if (report.mends.length === 0) return;
  const message = `A request was mended before it was sent: ${repairsOf(report)}`;
  process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_MENDED" });
}
