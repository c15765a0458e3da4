/** What is kept for the next text. */
const MAX_KEPT = 16 << 20;
const FIRST_SIZE = 64 << 10;

/** UTF-8 takes at most three bytes for each unit of a string. */
const MAX_BYTES_PER_UNIT = 3;

/** Memory that texts are written to, one after the other; one is kept for reuse. */
export class Scratch {
  static #spare: Scratch | undefined;

  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #length = 0;

  /** One that nobody else writes to, also while it is written to. */
  static take(): Scratch {
    const scratch = Scratch.#spare ?? new Scratch();
    Scratch.#spare = undefined;
    scratch.#length = 0;
    return scratch;
  }

  /** Appends a text. */
  write(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_UNIT);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** What was written so far; good until the next is written, or this is released. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Nobody reads what was written any more. */
  release(): void {
    if (this.#bytes.length <= MAX_KEPT) Scratch.#spare = this;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
