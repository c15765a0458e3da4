/** A map that keeps what was set last, and forgets the oldest beyond its bound. */
export class Recent<V> {
  readonly #values = new Map<string, V>();

  constructor(private readonly bound: number) {}

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const oldest = this.#values.keys().next();
    if (this.#values.size > this.bound && !oldest.done) this.#values.delete(oldest.value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
