import { native } from "./native.js";

/** What is kept for the next text. */
const MAX_KEPT = 16 << 20;
const FIRST_SIZE = 64 << 10;

/** UTF-8 takes at most three bytes for each unit of a string. */
const MAX_BYTES_PER_UNIT = 3;
/** `\u001f`. */
const MAX_BYTES_PER_QUOTED_UNIT = 6;
const QUOTES = 2;

/** Up to here a string is written faster here than by a call of the native module. */
const SHORT = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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

  /** Appends one character of ASCII. */
  writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Appends what `JSON.stringify` makes of a string. */
  writeQuoted(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_QUOTED_UNIT + QUOTES);
    if (text.length <= SHORT && this.#writePlain(text)) return;
    this.#length += native.quote(text, this.#bytes, this.#length);
  }

  /** How much was written so far. */
  get length(): number {
    return this.#length;
  }

  /** Forgets what was written after there was so much. */
  rewind(length: number): void {
    this.#length = length;
  }

  /** What was written so far; good until the next is written, or this is released. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Nobody reads what was written any more. */
  release(): void {
    if (this.#bytes.length <= MAX_KEPT) Scratch.#spare = this;
  }

  /** Appends a string of ASCII without escapes, in quotes; whether it was one. */
  #writePlain(text: string): boolean {
    const bytes = this.#bytes;
    let end = this.#length;
    bytes[end++] = QUOTE;
    for (let position = 0; position < text.length; position += 1) {
      const unit = text.charCodeAt(position);
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return false;
      bytes[end++] = unit;
    }
    bytes[end++] = QUOTE;
    this.#length = end;
    return true;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
