import { createHash } from "node:crypto";

import { contentOf } from "./content.js";
import type { CallKinds } from "./kinds.js";
import { itemOfAssistant, itemOfTool, type Item, type Reading } from "./parts.js";
import type { Message, Part } from "./shapes.js";

export type { Item } from "./parts.js";

/** The message and the parts of an item. */
export interface Position {
  readonly message: number;
  readonly parts: readonly number[];
}

/** The items of messages. Parts without an item stay with their neighbours. */
export interface MessageItems {
  readonly items: readonly Item[];
  /** The position of each item. */
  readonly positions: readonly Position[];
}

/**
 * Converts messages to items. Texts and pieces of reasoning with the same id form one item. Long
 * texts are replaced with digests, because they are only compared.
 */
export function itemsOf(messages: readonly Message[], reading: Reading): MessageItems {
  const items: Item[] = [];
  const positions: Position[] = [];
  for (const [message, { role, content }] of messages.entries()) {
    for (const { item, parts } of itemsOfMessage(role, content, reading)) {
      items.push(abridged(item));
      positions.push({ message, parts });
    }
  }
  return { items, positions };
}

/** Converts the content of an answer to items. */
export function itemsOfAnswer(content: readonly Part[], kinds: CallKinds): Item[] {
  const answer = [{ role: "assistant", content }];
  return [...itemsOf(answer, { kinds, hasServerState: true }).items];
}

/** Replaces the long texts of a value with digests. */
export function abridged<T>(value: T): T {
  if (typeof value === "string") return (value.length > LONG ? digest(value) : value) as T;
  if (Array.isArray(value)) return value.map(abridged) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, abridged(inner)]),
  ) as T;
}

const LONG = 4_096;

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

interface Read {
  item: Item;
  parts: number[];
}

function itemsOfMessage(role: string, content: Message["content"], reading: Reading): Read[] {
  if (role === "assistant") return ofAssistant(partsOf(content), reading);
  if (role === "tool") return ofTool(partsOf(content), reading);
  const parts = partsOf(content);
  return [{ item: { type: "message", role, content: contentOf(parts) }, parts: every(parts) }];
}

/** The parts of a content. A text is one part. */
export function partsOf(content: Message["content"]): readonly Part[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function every(parts: readonly Part[]): number[] {
  return [...parts.keys()];
}

function ofAssistant(parts: readonly Part[], reading: Reading): Read[] {
  const read = readBy(parts, (part) => itemOfAssistant(part, reading), isContinued);
  for (const [position, { type, toolCallId }] of parts.entries()) {
    if (type === "tool-result") callOf(parts, read, toolCallId)?.parts.push(position);
  }
  return read;
}

/** The provider-executed call with this id. */
function callOf(parts: readonly Part[], read: readonly Read[], id?: string): Read | undefined {
  return read.find(({ parts: [first = -1] }) => {
    const part = parts[first];
    return part?.providerExecuted === true && part.toolCallId === id;
  });
}

function ofTool(parts: readonly Part[], reading: Reading): Read[] {
  return readBy(parts, (part) => itemOfTool(part, reading), isSameOutput);
}

/** Converts parts to items, and joins a part with the previous item if it continues that item. */
function readBy(
  parts: readonly Part[],
  itemOf: (part: Part) => Item | undefined,
  continues: (before: Item, next: Item) => boolean,
): Read[] {
  const read: Read[] = [];
  for (const [position, part] of parts.entries()) {
    const item = itemOf(part);
    if (item === undefined) continue;
    const before = read.at(-1);
    if (before !== undefined && continues(before.item, item)) {
      const combined = { item: joined(before.item, item), parts: [...before.parts, position] };
      read.splice(-1, 1, combined);
    } else {
      read.push({ item, parts: [position] });
    }
  }
  return read;
}

function isContinued(before: Item, next: Item): boolean {
  return before["id"] !== undefined && before["id"] === next["id"] && before.type === next.type;
}

/** Whether two outputs belong to one call that the provider had split. */
function isSameOutput(before: Item, next: Item): boolean {
  return before["name"] !== undefined && before["call_id"] === next["call_id"];
}

function joined(before: Item, next: Item): Item {
  const both = (field: string) => [...(before[field] as []), ...(next[field] as [])];
  if (before.type === "message") return { ...before, content: both("content") };
  if (before.type === "reasoning") return { ...before, ...next, summary: both("summary") };
  return before;
}
