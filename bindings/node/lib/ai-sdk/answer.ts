import { itemIdOf } from "./parts.js";
import type { FinishReason, Part, ProviderValues, StreamPart, Warning } from "./shapes.js";

/** The content of a complete answer. */
export interface Ending {
  readonly content: readonly Part[];
  readonly responseId: string | undefined;
}

/** Whether an answer with this reason is complete. If not, the server's stored part is unknown. */
export function isComplete(reason: FinishReason): boolean {
  const unified = typeof reason === "string" ? reason : reason.unified;
  return !["error", "interrupted", "other", "unknown"].includes(unified);
}

/** Whether a part is the start of a stream, which carries the warnings of the call. */
export function isStart(part: StreamPart): part is StreamPart & { warnings: readonly Warning[] } {
  return part.type === "stream-start";
}

/** Assembles a streamed answer: its finished parts, and the ids of all parts. */
export class Answer {
  readonly #content: Part[] = [];
  readonly #open = new Map<string, Part>();
  readonly #ids = new Set<string>();
  #responseId: string | undefined;
  #isComplete = false;

  push(part: StreamPart): void {
    const piece = part as Piece;
    const id = itemIdOf(piece as Part);
    if (id !== undefined) this.#ids.add(id);
    switch (piece.type) {
      case "response-metadata":
        this.#responseId = piece.id ?? this.#responseId;
        break;
      case "text-start":
      case "reasoning-start":
        this.#open.set(keyOf(piece), newPart(piece));
        break;
      case "text-delta":
      case "reasoning-delta":
        this.#grow(piece);
        break;
      case "text-end":
      case "reasoning-end":
        this.#end(piece);
        break;
      case "tool-call":
      case "tool-result":
      case "tool-approval-request":
      case "custom":
        this.#content.push(piece as Part);
        break;
      case "finish":
        this.#isComplete = piece.finishReason !== undefined && isComplete(piece.finishReason);
        break;
    }
  }

  /** Whether the answer is complete. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The finished parts. */
  ending(): Ending {
    return { content: this.#content, responseId: this.#responseId };
  }

  /** The ids of all items that were announced. */
  ids(): Iterable<string> {
    return this.#ids;
  }

  #grow(piece: Piece): void {
    const key = keyOf(piece);
    const open = this.#open.get(key);
    if (open) this.#open.set(key, { ...open, text: (open.text ?? "") + (piece.delta ?? "") });
  }

  /** Finishes a part. The end event may carry newer metadata, such as encrypted content. */
  #end(piece: Piece): void {
    const open = this.#open.get(keyOf(piece));
    this.#open.delete(keyOf(piece));
    if (!open) return;
    const providerMetadata = piece.providerMetadata ?? open.providerMetadata;
    this.#content.push({ ...open, providerMetadata });
  }
}

interface Piece {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly finishReason?: FinishReason;
  readonly providerMetadata?: ProviderValues;
}

function keyOf({ type, id }: Piece): string {
  return `${type.split("-", 1)[0]} ${id}`;
}

function newPart({ type, providerMetadata }: Piece): Part {
  return { type: type === "text-start" ? "text" : "reasoning", text: "", providerMetadata };
}
