import { refuseOtherOptions, refuseOtherThanObject, refused } from "./arguments.js";
import { faultOf } from "./faults.js";
import type { Fault, Finding } from "./faults.js";
import type { Item } from "./item.js";
import { textOf, withBytesOf } from "./json.js";
import { called, native } from "./native.js";

/** Options of `check`. */
export interface CheckOptions {
  /** The items that a server holds before the list. */
  held?: readonly Item[];
}

/** Options of `repair`. */
export interface RepairOptions extends CheckOptions {
  /**
   * `"repair"`, the default, adds a placeholder output to a call without one; `"drop"` removes the
   * call; `"reject"` throws the fault. To change single actions, use an object.
   */
  policy?: Policy;
}

/** The action for faults with more than one possible repair. */
export type Policy = "repair" | "drop" | "reject" | PolicyChoices;

/** The action for each kind of fault. The default is that of `"repair"`. */
export interface PolicyChoices {
  calls?: "answer" | "drop" | "reject";
  reasoning?: "drop" | "reject";
  outputs?: "drop" | "keep" | "reject";
  references?: "keep" | "drop" | "reject";
  /** For approvals and outputs of a local shell, if the items of the server are unknown. */
  answers?: "keep" | "drop";
  /** For items without an id that their type needs. */
  ids?: "add" | "drop" | "reject";
}

/** Options of `strip`: the fields of a request that name the server's state, and a policy. */
export interface StripOptions {
  /** The `conversation` of the request. */
  conversation?: string | { id: string } | null;
  /** The `previous_response_id` of the request. */
  previousResponseId?: string | null;
  /** `{ answers: "drop" }` removes approvals and outputs of a local shell, new ones too. */
  policy?: Policy;
}

/** A repaired list. */
export interface Repaired<T> {
  /**
   * The items that a provider accepts. An unchanged item is the same object (`===`); others are new
   * plain objects.
   */
  items: T[];
  /** The repairs. */
  mends: Mend[];
}

/** One repair: the fault and the action. */
export interface Mend extends Finding {
  /**
   * The action: `"dropped"`, `"answered"`, `"id_added"`, `"id_removed"`, `"id_replaced"`,
   * `"call_id_added"`, `"renamed"` or `"replaced"`; with the AI SDK also `"moved"` and `"deleted"`.
   */
  action: string;
}

/** Returns the faults that a provider would reject in `items`, in the provider's order. */
export function check(items: readonly Item[], options: CheckOptions = {}): Fault[] {
  refuseOtherOptions(options, ["held"]);
  const held = heldText(options);
  const findings = calledWith(items, (text) => native.check(text, held));
  return (JSON.parse(findings) as Finding[]).map(faultOf);
}

/**
 * Repairs the list, so that a provider accepts it. Does not modify its arguments. Throws the
 * `Fault` if the policy rejects it.
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

/** Removes reasoning without the item that must follow it, and nothing else. */
export function filterOrphanedReasoning<T extends Item>(items: readonly T[]): Repaired<T> {
  return repairedOf(items, calledWith(items, native.filterOrphanedReasoning));
}

/**
 * Removes items that the server already has: calls, reasoning, and all others that only servers
 * issue. Outputs and approvals stay, unless the input shows that the model has read an approval or
 * a local shell's output. Without `conversation` and `previousResponseId`, the server has nothing,
 * and the items stay as they are.
 *
 * Use it only if the server's items are unknown; otherwise use `reconcile`.
 */
export function strip<T extends Item>(
  items: readonly T[],
  options: StripOptions = {},
): Repaired<T> {
  refuseOtherOptions(options, ["conversation", "previousResponseId", "policy"]);
  const policy = policyText(options.policy);
  const request = stateText(options);
  if (called(() => native.marker(request)) === null) return { items: [...items], mends: [] };
  return repairedOf(items, calledWith(items, (text) => native.strip(text, policy)));
}

/** The fields of a request that name the server's state, as JSON. */
function stateText(options: StripOptions): string {
  const { conversation, previousResponseId: previous_response_id } = options;
  if (typeof (conversation ?? "") !== "string") {
    const need = "must be an id, or an object with an id";
    refuseOtherThanObject(conversation, "conversation", need);
  }
  if (typeof (previous_response_id ?? "") !== "string") {
    throw refused("previousResponseId", "must be an id", previous_response_id);
  }
  return JSON.stringify({ conversation, previous_response_id });
}

function calledWith(items: readonly Item[], call: (text: Uint8Array) => string): string {
  return withBytesOf(items, "items", (text) => called(() => call(text)));
}

/** The result of the native module. A number is the position of an unchanged item. */
type NativeRepaired = { items: (number | object)[]; mends: Mend[] } | { refused: Finding };

function repairedOf<T>(given: readonly T[], answer: string): Repaired<T> {
  const repaired = JSON.parse(answer) as NativeRepaired;
  if ("refused" in repaired) throw faultOf(repaired.refused);
  const items = repaired.items.map(
    (item) => (typeof item === "number" ? given[item] : item) as T,
  );
  return { items, mends: repaired.mends };
}

function heldText({ held }: CheckOptions): string | undefined {
  return held === undefined ? undefined : textOf(held, "held");
}

function policyText(policy: Policy = "repair"): string {
  if (typeof policy === "string" && policy.length > 0) return policy;
  if (typeof policy !== "object" || policy === null || Array.isArray(policy)) {
    const choices = "{ calls, reasoning, outputs, references, answers, ids }";
    const need = `must be "repair", "drop", "reject" or ${choices}`;
    throw refused("policy", need, policy);
  }
  return Object.entries(policy)
    .filter(([, choice]) => choice !== undefined)
    .map(([subject, choice]) => `${subject}=${choice}`)
    .join(",");
}
