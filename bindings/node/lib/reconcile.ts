import type { Item } from "./item.js";
import { textOf, withBytesOf } from "./json.js";
import { called, native } from "./native.js";

/** The relation of an item to a conversation. */
export type Verdict =
  /** The item is new. */
  | { verdict: "fresh" }
  /** The item is new, but another item has its id. */
  | { verdict: "fresh_under_used_id" }
  /** The item is new instructions that replace held ones. */
  | { verdict: "supersedes" }
  /** The real output of a call that holds a placeholder output, at position `madeUp`. */
  | { verdict: "late_output"; madeUp: number }
  /** The conversation holds the item, at position `held`; `differs`: with other content. */
  | { verdict: "resent"; held: number; rule: Rule; differs: boolean }
  /** The conversation held the item, and it was deleted. */
  | { verdict: "deleted" }
  /** The input contains the item twice; first at position `of`. */
  | { verdict: "duplicate"; of: number };

/** The rule by which a held item was recognized. */
export type Rule = "same_id" | "same_call" | "same_instructions" | "replayed";

/** Returns a verdict for each of `items`: whether a conversation with the items `held` has it. */
export function reconcile(held: readonly Item[], items: readonly Item[]): Verdict[] {
  const heldText = textOf(held, "held");
  const verdicts = withBytesOf(items, "items", (text) =>
    called(() => native.reconcile(heldText, text)),
  );
  return (JSON.parse(verdicts) as NativeVerdict[]).map(verdictOf);
}

type NativeVerdict =
  | Exclude<Verdict, { verdict: "late_output" }>
  | { verdict: "late_output"; made_up: number };

function verdictOf(native: NativeVerdict): Verdict {
  if (native.verdict !== "late_output") return native;
  return { verdict: native.verdict, madeUp: native.made_up };
}
