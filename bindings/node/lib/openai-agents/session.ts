import type { AgentInputItem, Session } from "@openai/agents";

import { refused } from "../arguments.js";
import { reconcile } from "../reconcile.js";
import type { Verdict } from "../reconcile.js";
import { repair } from "../repair.js";
import type { Mend } from "../repair.js";
import { wireOf, withIdOf } from "./items.js";

/**
 * Wraps a session of the SDK, for histories that the program stores.
 *
 * - Reading repairs the history: outputs without a call, calls without an output, reasoning without
 *   the item after it, duplicate items. The stored items do not change.
 * - Writing leaves out items that the session holds already, recognized by their id or call. A
 *   write can therefore be repeated if its answer was lost.
 *
 * Repairs are reported in a process warning, without message text. Everything else comes from the
 * wrapped session. Around a session that compacts, wrap its underlying session.
 */
export function repairedSession<S extends Session>(session: S): S {
  if (typeof (session as Session | undefined)?.getItems !== "function") {
    throw refused("session", "must be a session of the SDK", session);
  }
  const own: Pick<Session, "getItems" | "addItems"> = {
    async getItems(...options) {
      return repaired(await session.getItems(...options));
    },
    async addItems(items, ...options) {
      const added = items.length > 0 ? newItems(await session.getItems(), items) : [];
      if (added.length > 0) await session.addItems(added, ...options);
    },
  };
  return new Proxy(session, {
    get(target, name) {
      if (name === "getItems" || name === "addItems") return own[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The history without its faults. The SDK too removes calls without an output. */
function repaired(stored: readonly AgentInputItem[]): AgentInputItem[] {
  const wire = stored.map((item, position) => ({ ...wireOf(item), position }));
  const { items, mends } = repair(wire, { policy: { calls: "drop" } });
  if (mends.length > 0) emitWarningOf(mends);
  return items.map((item) => withIdOf(item, stored[item.position] as AgentInputItem));
}

/**
 * The items that the session does not hold. Some models reuse call ids in every turn, so a call
 * with a new output is new too.
 */
function newItems(held: AgentInputItem[], items: AgentInputItem[]): AgentInputItem[] {
  const verdicts = reconcile(held.map(wireOf), items.map(wireOf));
  const isNew = verdicts.map((verdict) => !isHeld(verdict));
  const newCalls = new Set(items.filter((_, position) => isNew[position]).map(unnamedCallOf));
  newCalls.delete(undefined);
  return items.filter((item, position) => isNew[position] || newCalls.has(unnamedCallOf(item)));
}

/** Whether the session holds the item, by its id or call, with the same content. */
function isHeld(verdict: Verdict): boolean {
  if (verdict.verdict === "duplicate") return true;
  if (verdict.verdict !== "resent" || verdict.differs) return false;
  return verdict.rule === "same_id" || verdict.rule === "same_call";
}

/** The call id of a call or an output without an id of the server. */
function unnamedCallOf(item: AgentInputItem): string | undefined {
  const { id, call_id } = wireOf(item);
  return id === undefined ? call_id : undefined;
}

function emitWarningOf(mends: readonly Mend[]): void {
  const done = mends.map(({ fault, action }) => `${fault} ${action}`);
  const message = `A session was repaired when it was read: ${done.join(", ")}`;
  process.emitWarning(message, { type: "AntiphonWarning", code: "ANTIPHON_MENDED" });
}
