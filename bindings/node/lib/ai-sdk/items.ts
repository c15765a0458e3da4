import { createHash } from "node:crypto";

import { contentOf } from "./content.js";
import type { Message, Part } from "./shapes.js";
import { hostedKind, outputKind, type CallKinds } from "./kinds.js";

/** An item, as the Responses API has them. */
export type Item = { readonly type: string; readonly [field: string]: unknown };

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

/** How messages are read. */
export interface Reading {
  /** What the calls of tools that a provider defines are. */
  readonly kinds: CallKinds;
  /** Whether answers to a provider's requests for approval are items of their own. */
  readonly approvals: boolean;
}

/**
 * The items that messages stand for. Texts and pieces of reasoning under one id are one item. What is
 * long is named by its digest, since it only has to be told apart.
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
  return [...itemsOf(answer, { kinds, approvals: true }).items];
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

/** The item id that a provider gave to what a part says. */
export function itemIdOf(part: Part): string | undefined {
  return saidOf(part, "itemId");
}

/** What any provider says of a part under a name. */
function saidOf({ providerOptions, providerMetadata }: Part, name: string): string | undefined {
  const said = [providerOptions, providerMetadata]
    .flatMap((values) => Object.values(values ?? {}))
    .map((values) => values?.[name]);
  return said.find((value) => typeof value === "string" && value !== "") as string | undefined;
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
  const read: Read[] = [];
  for (const [position, part] of parts.entries()) {
    const item = itemOfAssistant(part, reading);
    if (item === undefined) continue;
    const before = read.at(-1);
    if (before !== undefined && isContinued(before.item, item)) {
      read[read.length - 1] = {
        item: joined(before.item, item),
        parts: [...before.parts, position],
      };
    } else {
      read.push({ item, parts: [position] });
    }
  }
  return read;
}

function itemOfAssistant(part: Part, reading: Reading): Item | undefined {
  const id = itemIdOf(part);
  switch (part.type) {
    case "text":
      return messageOf(part.text ?? "", id);
    case "reasoning":
      return reasoningOf(part, id);
    case "tool-call":
      return part.providerExecuted ? hosted(part, id) : callOf(part, id, reading.kinds);
    case "tool-result":
      return isDenial(part) ? undefined : hosted(part, id);
    case "tool-approval-request":
      return reading.approvals ? { type: "mcp_approval_request", id: part.approvalId } : undefined;
    case "custom":
      return part.kind?.endsWith(".compaction") ? compactionOf(part, id) : undefined;
    default:
      return undefined;
  }
}

function messageOf(text: string, id: string | undefined): Item {
  const content = [{ type: "output_text", text }];
  return { type: "message", role: "assistant", ...(id !== undefined && { id }), content };
}

function compactionOf(part: Part, id: string | undefined): Item | undefined {
  return id === undefined
    ? undefined
    : { type: "compaction", id, encrypted_content: saidOf(part, "encryptedContent") ?? "" };
}

/** Reasoning with neither an id nor encrypted content is another kind of provider's, and no item. */
function reasoningOf(part: Part, id: string | undefined): Item | undefined {
  const encrypted = saidOf(part, "reasoningEncryptedContent");
  if (id === undefined && encrypted === undefined) return undefined;
  return {
    type: "reasoning",
    ...(id !== undefined && { id }),
    summary: part.text ? [{ type: "summary_text", text: part.text }] : [],
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
  };
}

function callOf(part: Part, id: string | undefined, kinds: CallKinds): Item {
  const name = part.toolName ?? "";
  return {
    type: kinds(name),
    ...(id !== undefined && { id }),
    call_id: part.toolCallId ?? "",
    name,
    arguments: textOf(part.input),
  };
}

/** A call that the provider itself ran, or its result: both stand for one item. */
function hosted(part: Part, id: string | undefined): Item {
  const itemId = id ?? part.toolCallId ?? "";
  return { type: hostedKind(itemId), id: itemId, status: "completed" };
}

/** What stands in the place of a result that was never allowed to be, and is not sent. */
function isDenial({ output }: Part): boolean {
  const { type, value } = (output ?? {}) as { type?: unknown; value?: unknown };
  const inner = (value ?? {}) as { type?: unknown };
  return type === "execution-denied" || (type === "json" && inner.type === "execution-denied");
}

function isContinued(before: Item, next: Item): boolean {
  return before["id"] !== undefined && before["id"] === next["id"] && before.type === next.type;
}

function joined(before: Item, next: Item): Item {
  const both = (field: string) => [...(before[field] as []), ...(next[field] as [])];
  if (before.type === "message") return { ...before, content: both("content") };
  if (before.type === "reasoning") return { ...before, ...next, summary: both("summary") };
  return before;
}

function ofTool(parts: readonly Part[], reading: Reading): Read[] {
  return [...parts.entries()].flatMap(([position, part]) => {
    const item = itemOfTool(part, reading);
    return item === undefined ? [] : [{ item, parts: [position] }];
  });
}

function itemOfTool(part: Part, { kinds, approvals }: Reading): Item | undefined {
  switch (part.type) {
    case "tool-result": {
      const type = outputKind(kinds(part.toolName ?? ""));
      return { type, call_id: part.toolCallId ?? "", output: outputOf(part.output) };
    }
    case "tool-approval-response": {
      const { approvalId, approved } = part;
      const type = "mcp_approval_response";
      return approvals ? { type, approval_request_id: approvalId, approve: approved } : undefined;
    }
    default:
      return undefined;
  }
}

function outputOf(output: unknown): unknown {
  const { type, value } = (output ?? {}) as { type?: string; value?: unknown };
  return type === "content" ? contentOf(value as Part[]) : textOf(value);
}

/** A value as text. What is no JSON only has to be told apart from nothing. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return String(value);
  }
}
