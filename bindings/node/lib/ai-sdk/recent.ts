/** A map with a maximum total weight. It drops the entries that were set least recently. */
export class Recent<V> {
  readonly #values = new Map<string, V>();

  #weight = 0;

  constructor(
    private readonly bound: number,
    private readonly weigh: (value: V) => number = () => 1,
  ) {}

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#values.set(key, value);
    this.#weight += this.weigh(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.bound) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#weight -= this.weigh(value);
    this.#values.delete(key);
  }
}
