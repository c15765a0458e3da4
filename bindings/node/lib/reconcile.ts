import type { Item } from "./item.js";
import { textOf, withBytesOf } from "./json.js";
import { called, native } from "./native.js";

/** Whether the owner of the state has an item, and how that is known. */
export type Verdict =
  /** It has not. */
  | { verdict: "fresh" }
  /** It has not, but holds another under the item's id. */
  | { verdict: "fresh_under_used_id" }
  /** It has an earlier saying of it, which this takes the place of. */
  | { verdict: "supersedes" }
  /** It is the output of a call for which an output was made up: the one that is held at `madeUp`. */
  | { verdict: "late_output"; madeUp: number }
  /** It has it, at `held`; `differs`: what is held says something else. */
  | { verdict: "resent"; held: number; rule: Rule; differs: boolean }
  /** It had it, and it was deleted. */
  | { verdict: "deleted" }
  /** The list has it twice: first at `of`. */
  | { verdict: "duplicate"; of: number };

/** By which rule a held item is known again. */
export type Rule = "same_id" | "same_call" | "same_instructions" | "replayed";

/** Tells of each of `items` whether the owner of `held` has it. */
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

function verdictOf(told: NativeVerdict): Verdict {
  return told.verdict === "late_output" ? { verdict: told.verdict, madeUp: told.made_up } : told;
}
