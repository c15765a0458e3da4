import { itemIdOf } from "./parts.js";
import type { FinishReason, Part, ProviderValues, StreamPart, Warning } from "./shapes.js";

/** How an answer ended. */
export interface Ending {
  readonly content: readonly Part[];
  readonly responseId: string | undefined;
}

/** Whether an answer that ended so came to its end: else nobody knows what its server kept. */
export function isWhole(reason: FinishReason): boolean {
  const unified = typeof reason === "string" ? reason : reason.unified;
  return !["error", "interrupted", "other", "unknown"].includes(unified);
}

/** Whether a part begins a stream. It bears the warnings of the call. */
export function isStart(part: StreamPart): part is StreamPart & { warnings: readonly Warning[] } {
  return part.type === "stream-start";
}

/** A streamed answer as it is put together: the parts that are over, and the ids of all. */
export class Answer {
  readonly #content: Part[] = [];
  readonly #open = new Map<string, Part>();
  readonly #ids = new Set<string>();
  #responseId: string | undefined;
  #isWhole = false;

  hear(part: StreamPart): void {
    const heard = part as Heard;
    const id = itemIdOf(heard as Part);
    if (id !== undefined) this.#ids.add(id);
    switch (heard.type) {
      case "response-metadata":
        this.#responseId = heard.id ?? this.#responseId;
        break;
      case "text-start":
      case "reasoning-start":
        this.#open.set(keyOf(heard), begun(heard));
        break;
      case "text-delta":
      case "reasoning-delta":
        this.#grow(heard);
        break;
      case "text-end":
      case "reasoning-end":
        this.#end(heard);
        break;
      case "tool-call":
      case "tool-result":
      case "tool-approval-request":
      case "custom":
        this.#content.push(heard as Part);
        break;
      case "finish":
        this.#isWhole = heard.finishReason !== undefined && isWhole(heard.finishReason);
        break;
    }
  }

  /** Whether the answer came to its end. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** What came whole. */
  ending(): Ending {
    return { content: this.#content, responseId: this.#responseId };
  }

  /** The ids of all items that were announced. */
  ids(): Iterable<string> {
    return this.#ids;
  }

  #grow(heard: Heard): void {
    const key = keyOf(heard);
    const open = this.#open.get(key);
    if (open) this.#open.set(key, { ...open, text: (open.text ?? "") + (heard.delta ?? "") });
  }

  /** The end says last what the provider knows of a part: encrypted content comes with it. */
  #end(heard: Heard): void {
    const open = this.#open.get(keyOf(heard));
    this.#open.delete(keyOf(heard));
    if (!open) return;
    const providerMetadata = heard.providerMetadata ?? open.providerMetadata;
    this.#content.push({ ...open, providerMetadata });
  }
}

interface Heard {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly finishReason?: FinishReason;
  readonly providerMetadata?: ProviderValues;
}

function keyOf({ type, id }: Heard): string {
  return `${type.split("-", 1)[0]} ${id}`;
}

function begun({ type, providerMetadata }: Heard): Part {
  return { type: type === "text-start" ? "text" : "reasoning", text: "", providerMetadata };
}
