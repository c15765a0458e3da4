import { refuseOtherOptions, refused } from "./arguments.js";
import { faultOf } from "./faults.js";
import type { Fault, Finding } from "./faults.js";
import type { Item } from "./item.js";
import { textOf, withBytesOf } from "./json.js";
import { called, native } from "./native.js";

/** What a list continues. */
export interface CheckOptions {
  /** What a server holds before the list. */
  held?: readonly Item[];
}

/** How a list is mended. */
export interface RepairOptions extends CheckOptions {
  /**
   * `"repair"` (the default), `"drop"` leaves out calls without an output rather than answering them,
   * `"reject"` throws what it would have mended; or choices that differ from `"repair"`, by their
   * subject.
   */
  policy?: Policy;
}

/** What is done about faults of which several mends are right. */
export type Policy = "repair" | "drop" | "reject" | PolicyChoices;

/** What is done about each kind of fault; what is not named is as in `"repair"`. */
export interface PolicyChoices {
  calls?: "answer" | "drop" | "reject";
  reasoning?: "drop" | "reject";
  outputs?: "drop" | "keep" | "reject";
  references?: "keep" | "drop" | "reject";
}

/** A list that was mended. */
export interface Repaired<T> {
  /**
   * The items that a provider accepts. Those that stay as they were are the very objects that were
   * given (`===`); others are plain objects of the same API.
   */
  items: T[];
  /** What was mended. */
  mends: Mend[];
}

/** What was mended: what a provider would have said of it, and what was done. */
export interface Mend extends Finding {
  /** What was done: `"dropped"`, `"answered"`, `"id_removed"`, `"id_replaced"`, `"renamed"`, `"replaced"`;
   * beside the AI SDK also `"moved"` and `"deleted"`. */
  action: string;
}

/** What a provider would refuse in `items`, in the order in which it would name it. */
export function check(items: readonly Item[], options: CheckOptions = {}): Fault[] {
  refuseOtherOptions(options, ["held"]);
  const held = heldText(options);
  const findings = calledWith(items, (text) => native.check(text, held));
  return (JSON.parse(findings) as Finding[]).map(faultOf);
}

/**
 * The list as a provider accepts it, and what was mended in it. Nothing that was given is changed.
 * A policy that rejects throws the `Fault`.
 */
export function repair<T extends Item>(
  items: readonly T[],
  options: RepairOptions = {},
): Repaired<T> {
  refuseOtherOptions(options, ["held", "policy"]);
  const held = heldText(options);
  const policy = policyText(options.policy);
  return repairedOf(items, calledWith(items, (text) => native.repair(text, held, policy)));
}

/** Leaves out reasoning that leads to nothing, and nothing else. */
export function filterOrphanedReasoning<T extends Item>(items: readonly T[]): Repaired<T> {
  return repairedOf(items, calledWith(items, native.filterOrphanedReasoning));
}

/** Leaves out what a server that holds the conversation holds, as far as kinds tell. */
export function strip<T extends Item>(items: readonly T[]): Repaired<T> {
  return repairedOf(items, calledWith(items, native.strip));
}

function calledWith(items: readonly Item[], call: (text: Uint8Array) => string): string {
  return withBytesOf(items, "items", (text) => called(() => call(text)));
}

/** What the native module says of a list: a number is the position of an item that stays. */
type Mended = { items: (number | object)[]; mends: Mend[] } | { refused: Finding };

function repairedOf<T>(given: readonly T[], answer: string): Repaired<T> {
  const mended = JSON.parse(answer) as Mended;
  if ("refused" in mended) throw faultOf(mended.refused);
  const items = mended.items.map((place) => (typeof place === "number" ? given[place] : place) as T);
  return { items, mends: mended.mends };
}

function heldText({ held }: CheckOptions): string | undefined {
  return held === undefined ? undefined : textOf(held, "held");
}

function policyText(policy: Policy = "repair"): string {
  if (typeof policy === "string" && policy.length > 0) return policy;
  if (typeof policy !== "object" || policy === null || Array.isArray(policy)) {
    const need = '"repair", "drop", "reject" or { calls, reasoning, outputs, references } is needed';
    throw refused("policy", need, policy);
  }
  return Object.entries(policy)
    .filter(([, choice]) => choice !== undefined)
    .map(([subject, choice]) => `${subject}=${choice}`)
    .join(",");
}
