import { partsOf, type Item, type Mapped, type Place } from "./items.js";
import { answerOf } from "./made-up.js";
import type { Message, Part, ProviderValues } from "./shapes.js";
import type { Sources } from "./sources.js";

/**
 * The messages that say what is left of their items. Messages and parts that nothing was done to
 * are the very same objects; a message that says nothing any more is gone.
 *
 * `isFreed` names items that are to be sent as they are, without the id under which a provider
 * would only refer to them. `held` is what the server has: made-up outputs may be for calls of it.
 */
export function mended<M extends Message>(
  messages: readonly M[],
  mapped: Mapped,
  sources: Sources,
  { held = [], isFreed = () => false }: Beside = {},
): M[] {
  const draft = new Draft(messages);
  for (const [position, place] of mapped.places.entries()) {
    const item = mapped.items[position] as Item;
    const left = sources.left.get(position);
    if (left === undefined) draft.leaveOut(place);
    else if (isFreed(item)) draft.change(place, item, { ...left, id: undefined });
    else if (left !== item) draft.change(place, item, left);
  }
  const calls = [...held, ...mapped.items];
  for (const { item, behind } of sources.made) {
    const call = calls.findLast(({ call_id, name }) => call_id === item["call_id"] && name);
    const place = placeOfCall(mapped, call) ?? mapped.places[behind ?? -1];
    draft.answer(place?.message, answerOf(item, String(call?.["name"] ?? "tool")));
  }
  return draft.messages();
}

/** What else there is to know of the items. */
interface Beside {
  readonly held?: readonly Item[];
  readonly isFreed?: (item: Item) => boolean;
}

function placeOfCall(mapped: Mapped, call: Item | undefined): Place | undefined {
  return call === undefined ? undefined : mapped.places[mapped.items.indexOf(call)];
}

/** Messages while they are being mended. */
export class Draft<M extends Message> {
  /** For each message that is not as it was given its parts; where one is left out, nothing. */
  readonly #parts = new Map<number, (Part | undefined)[]>();
  /**
   * Results that go behind a message; those of the calls of a server go before all but the
   * instructions.
   */
  readonly #answers = new Map<number | undefined, Part[]>();

  constructor(private readonly given: readonly M[]) {}

  leaveOut({ message, parts }: Place): void {
    const left = this.#partsOf(message);
    for (const part of parts) left[part] = undefined;
  }

  change({ message, parts }: Place, from: Item, to: Item): void {
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
        messages.push(...behindResults(waiting, message));
        waiting = [];
      } else if (message !== undefined) {
        messages.push(message);
      }
      waiting = [...waiting, ...(this.#answers.get(position) ?? [])];
    }
    return waiting.length > 0 ? [...messages, ...behindResults<M>(waiting, undefined)] : messages;
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
 * Results before the next message; in it, where it holds results: one message answers a model's
 * calls.
 */
function behindResults<M extends Message>(results: Part[], next: M | undefined): M[] {
  if (next?.role === "tool") return [withParts(next, [...partsOf(next.content), ...results])];
  const message = { role: "tool", content: results } as unknown as M;
  return next === undefined ? [message] : [message, next];
}

/** A part under the ids of another item. */
function renamed(part: Part, from: Item, to: Item): Part {
  const isRenamed = part.toolCallId !== undefined && to["call_id"] !== from["call_id"];
  return {
    ...part,
    ...(isRenamed && { toolCallId: String(to["call_id"]) }),
    ...(to["id"] !== from["id"] && underId(part, to["id"])),
  };
}

function underId({ providerOptions, providerMetadata }: Part, id: unknown): Partial<Part> {
  return {
    ...(providerOptions && { providerOptions: valuesUnderId(providerOptions, id) }),
    ...(providerMetadata && { providerMetadata: valuesUnderId(providerMetadata, id) }),
  };
}

function valuesUnderId(values: ProviderValues, id: unknown): ProviderValues {
  const changed = Object.entries(values).map(([provider, said]) => {
    if (said?.["itemId"] === undefined) return [provider, said];
    const { itemId: _, ...rest } = said;
    return [provider, id === undefined ? rest : { ...rest, itemId: id }];
  });
  return Object.fromEntries(changed) as ProviderValues;
}
