import { native } from "./native.js";

/** The maximum size of a buffer that is reused. */
const MAX_REUSED = 16 << 20;
const FIRST_SIZE = 64 << 10;

/** UTF-8 takes at most three bytes for each unit of a string. */
const MAX_BYTES_PER_UNIT = 3;
/** `\u001f`. */
const MAX_BYTES_PER_QUOTED_UNIT = 6;
const QUOTES = 2;

/** Up to this length, writing a string in JavaScript is faster than a call of the native module. */
const SHORT = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A growing buffer of UTF-8 text. One spare buffer is reused. */
export class Scratch {
  static #spare: Scratch | undefined;

  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #length = 0;

  /** Takes the spare buffer, or a new one. Nobody else writes to it until `release`. */
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

  /** Appends one ASCII character. */
  writeByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Appends the result of `JSON.stringify` for a string. */
  writeQuoted(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_QUOTED_UNIT + QUOTES);
    if (text.length <= SHORT && this.#writePlain(text)) return;
    this.#length += native.quote(text, this.#bytes, this.#length);
  }

  /** The number of bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Drops the bytes after a length. */
  rewind(length: number): void {
    this.#length = length;
  }

  /** The written bytes. Valid until the next write or `release`. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Returns the buffer for reuse. Its bytes must not be read after that. */
  release(): void {
    if (this.#bytes.length <= MAX_REUSED) Scratch.#spare = this;
  }

  /** Appends a string in quotes if it is ASCII without escapes. Returns whether it was. */
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
