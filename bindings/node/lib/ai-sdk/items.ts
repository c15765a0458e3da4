import { createHash } from "node:crypto";

import { contentOf } from "./content.js";
import type { CallKinds } from "./kinds.js";
import { itemOfAssistant, itemOfTool, type Item, type Reading } from "./parts.js";
import type { Message, Part } from "./shapes.js";

export type { Item } from "./parts.js";

/** Which parts of which message an item stands for. */
export interface Place {
  readonly message: number;
  readonly parts: readonly number[];
}

/** Messages as items. Parts for which there is no item stay with the parts around them. */
export interface Mapped {
  readonly items: readonly Item[];
  /** For each item its place. */
  readonly places: readonly Place[];
}

/**
 * The items that messages stand for. Texts and pieces of reasoning under one id are one item. What
 * is long is named by its digest, since it only has to be told apart.
 */
export function itemsOf(messages: readonly Message[], reading: Reading): Mapped {
  const items: Item[] = [];
  const places: Place[] = [];
  for (const [message, { role, content }] of messages.entries()) {
    for (const { item, parts } of itemsOfMessage(role, content, reading)) {
      items.push(abridged(item));
      places.push({ message, parts });
    }
  }
  return { items, places };
}

/** What a model answered, as items. */
export function itemsOfAnswer(content: readonly Part[], kinds: CallKinds): Item[] {
  const answer = [{ role: "assistant", content }];
  return [...itemsOf(answer, { kinds, besideState: true }).items];
}

/** An item, the long texts of which are named by their digests. */
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

/** The parts of a content; a text alone is one part. */
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

/** The call of this id that the provider itself ran. */
function callOf(parts: readonly Part[], read: readonly Read[], id?: string): Read | undefined {
  return read.find(({ parts: [first = -1] }) => {
    const part = parts[first];
    return part?.providerExecuted === true && part.toolCallId === id;
  });
}

function ofTool(parts: readonly Part[], reading: Reading): Read[] {
  return readBy(parts, (part) => itemOfTool(part, reading), isSameOutput);
}

/** The items of parts; what goes on with the item before is one with it. */
function readBy(
  parts: readonly Part[],
  itemOf: (part: Part) => Item | undefined,
  goesOn: (before: Item, next: Item) => boolean,
): Read[] {
  const read: Read[] = [];
  for (const [position, part] of parts.entries()) {
    const item = itemOf(part);
    if (item === undefined) continue;
    const before = read.at(-1);
    if (before !== undefined && goesOn(before.item, item)) {
      const whole = { item: joined(before.item, item), parts: [...before.parts, position] };
      read.splice(-1, 1, whole);
    } else {
      read.push({ item, parts: [position] });
    }
  }
  return read;
}

function isContinued(before: Item, next: Item): boolean {
  return before["id"] !== undefined && before["id"] === next["id"] && before.type === next.type;
}

/** Whether two outputs are of one call, which the provider took apart. */
function isSameOutput(before: Item, next: Item): boolean {
  return before["name"] !== undefined && before["call_id"] === next["call_id"];
}

function joined(before: Item, next: Item): Item {
  const both = (field: string) => [...(before[field] as []), ...(next[field] as [])];
  if (before.type === "message") return { ...before, content: both("content") };
  if (before.type === "reasoning") return { ...before, ...next, summary: both("summary") };
  return before;
}
