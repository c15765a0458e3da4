import { repair, type Policy } from "../repair.js";
import type { Message } from "./shapes.js";

/** Throws a `TypeError` if the messages are not model messages, with advice for common mistakes. */
export function assertModelMessages(messages: readonly Message[]): void {
  if (isThenable(messages)) {
    throw new TypeError("messages: must be an array, not a promise: await it first.");
  }
  if (!Array.isArray(messages)) {
    throw new TypeError(`messages: must be an array of model messages, not ${kindOf(messages)}.`);
  }
  for (const [position, message] of messages.entries()) assertModelMessage(message, position);
}

function assertModelMessage(message: unknown, position: number): void {
  const { role, content, parts } = (message ?? {}) as { [name: string]: unknown };
  if (content === undefined && Array.isArray(parts)) {
    throw new TypeError(
      `messages[${position}]: must be a model message, not a UI message: ` +
        `await convertToModelMessages(messages) first.`,
    );
  }
  if (typeof role !== "string" || !(typeof content === "string" || Array.isArray(content))) {
    const need = "a model message needs a role, and a text or parts as its content";
    throw new TypeError(`messages[${position}]: ${need}.`);
  }
}

/** Throws a `TypeError` for options of a wrong type. */
export function assertOptions(options: object): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`options: must be an object, not ${kindOf(options)}.`);
  }
  const { policy, onReport } = options as { policy?: Policy; onReport?: unknown };
  assertPolicy(policy);
  if (onReport !== undefined && typeof onReport !== "function") {
    throw new TypeError(`onReport: must be a function, not ${kindOf(onReport)}.`);
  }
}

/** Throws for an invalid policy. The engine checks its names. */
function assertPolicy(policy: Policy | undefined): void {
  if (policy === undefined) return;
  const isNamed = typeof policy === "string" && (policy as string) !== "";
  if (!isNamed && (typeof policy !== "object" || policy === null || Array.isArray(policy))) {
    const known = `"repair", "drop", "reject" or an object of choices`;
    throw new TypeError(`policy: must be ${known}, not ${kindOf(policy)}.`);
  }
  repair([], { policy });
}

/** Throws a `TypeError` if the value cannot list and delete items. */
export function assertConversations(conversations: unknown): void {
  if (conversations === undefined) return;
  const { items } = (conversations ?? {}) as { items?: { list?: unknown; delete?: unknown } };
  if (typeof items?.list === "function" && typeof items.delete === "function") return;
  throw new TypeError(
    `conversations: must be client.conversations of the openai package, or an object with ` +
      `items.list and items.delete, not ${kindOf(conversations)}.`,
  );
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === "") return "an empty string";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return `the ${typeof value} ${String(value)}`;
}
