import { partsOf, type Item, type MessageItems, type Position } from "./items.js";
import { placeholderPart } from "./placeholder.js";
import type { Message, Part, ProviderValues } from "./shapes.js";
import type { Sources } from "./sources.js";

/**
 * Applies a repair of items to their messages. Unchanged messages and parts stay the same objects;
 * a message without remaining parts is removed.
 *
 * `losesId` selects the items that are sent without their id. `held` are the server's items, whose
 * calls may get placeholder outputs.
 */
export function applyRepair<M extends Message>(
  messages: readonly M[],
  { items, positions }: MessageItems,
  sources: Sources,
  { held = [], losesId = () => false }: RepairOptions = {},
): M[] {
  const draft = new Draft(messages);
  for (const [index, position] of positions.entries()) {
    const item = items[index] as Item;
    const left = sources.left.get(index);
    if (left === undefined) draft.leaveOut(position);
    else if (losesId(item)) draft.change(position, item, { ...left, id: undefined });
    else if (left !== item) draft.change(position, item, left);
  }
  const calls = [...held, ...items];
  for (const { item, after } of sources.added) {
    const call = calls.findLast(({ call_id, name }) => call_id === item["call_id"] && name);
    const ofCall = call && positions[items.indexOf(call)];
    const position = ofCall ?? positions[after ?? -1];
    draft.answer(position?.message, placeholderPart(item, String(call?.["name"] ?? "tool")));
  }
  return draft.messages();
}

/** Options of `applyRepair`. */
interface RepairOptions {
  readonly held?: readonly Item[];
  readonly losesId?: (item: Item) => boolean;
}

/** Collects changes of messages. */
export class Draft<M extends Message> {
  /** The parts of each changed message; `undefined` for a removed part. */
  readonly #parts = new Map<number, (Part | undefined)[]>();
  /**
   * Results to add after a message. Results for calls of the server (`undefined`) are added after
   * the instructions.
   */
  readonly #answers = new Map<number | undefined, Part[]>();

  constructor(private readonly given: readonly M[]) {}

  leaveOut({ message, parts }: Position): void {
    const left = this.#partsOf(message);
    for (const part of parts) left[part] = undefined;
  }

  change({ message, parts }: Position, from: Item, to: Item): void {
    const changed = this.#partsOf(message);
    for (const part of parts) changed[part] = renamed(changed[part] as Part, from, to);
  }

  answer(message: number | undefined, result: Part): void {
    this.#answers.set(message, [...(this.#answers.get(message) ?? []), result]);
  }

  messages(): M[] {
    const messages: M[] = [];
    const begin = this.given.findIndex(({ role }) => role !== "system");
    let waiting = this.#answers.get(undefined) ?? [];
    for (const [position, given] of this.given.entries()) {
      const message = this.#message(position, given);
      if (waiting.length > 0 && begin >= 0 && position >= begin) {
        messages.push(...withResultsBefore(waiting, message));
        waiting = [];
      } else if (message !== undefined) {
        messages.push(message);
      }
      waiting = [...waiting, ...(this.#answers.get(position) ?? [])];
    }
    if (waiting.length > 0) messages.push(...withResultsBefore<M>(waiting, undefined));
    return messages;
  }

  #partsOf(message: number): (Part | undefined)[] {
    const parts = this.#parts.get(message) ?? [...partsOf(this.given[message]?.content ?? [])];
    this.#parts.set(message, parts);
    return parts;
  }

  #message(position: number, given: M): M | undefined {
    const parts = this.#parts.get(position);
    if (parts === undefined) return given;
    const left = parts.filter((part) => part !== undefined);
    return left.length > 0 ? withParts(given, left) : undefined;
  }
}

function withParts<M extends Message>(message: M, parts: Part[]): M {
  return { ...message, content: parts };
}

/**
 * Adds results before the next message. If that message holds results, they are added to it,
 * because one message must answer all calls of a model message.
 */
function withResultsBefore<M extends Message>(results: Part[], next: M | undefined): M[] {
  if (next?.role === "tool") return [withParts(next, [...partsOf(next.content), ...results])];
  const message = { role: "tool", content: results } as unknown as M;
  return next === undefined ? [message] : [message, next];
}

/** A part with the ids of another item. */
function renamed(part: Part, from: Item, to: Item): Part {
  const isRenamed = part.toolCallId !== undefined && to["call_id"] !== from["call_id"];
  return {
    ...part,
    ...(isRenamed && { toolCallId: String(to["call_id"]) }),
    ...(to["id"] !== from["id"] && withId(part, to["id"])),
  };
}

function withId({ providerOptions, providerMetadata }: Part, id: unknown): Partial<Part> {
  return {
    ...(providerOptions && { providerOptions: valuesWithId(providerOptions, id) }),
    ...(providerMetadata && { providerMetadata: valuesWithId(providerMetadata, id) }),
  };
}

function valuesWithId(values: ProviderValues, id: unknown): ProviderValues {
  const changed = Object.entries(values).map(([provider, fields]) => {
    if (fields?.["itemId"] === undefined) return [provider, fields];
    const { itemId: _, ...rest } = fields;
    return [provider, id === undefined ? rest : { ...rest, itemId: id }];
  });
  return Object.fromEntries(changed) as ProviderValues;
}
