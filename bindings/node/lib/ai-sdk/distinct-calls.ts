/** A part of an answer that may be a call. */
interface MaybeCall {
  readonly type: string;
  readonly toolCallId?: string | undefined;
}

/** Recognizes the calls that an answer repeats: their tools would run twice. */
export class DistinctCalls {
  readonly #ids = new Set<string>();

  /** Whether a part is not a call that the answer had before. */
  readonly isNew = ({ type, toolCallId }: MaybeCall): boolean => {
    if (type !== "tool-call" || toolCallId === undefined) return true;
    const isNew = !this.#ids.has(toolCallId);
    this.#ids.add(toolCallId);
    return isNew;
  };
}
