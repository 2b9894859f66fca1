/** Above so many entries a new table costs more than it saves. */
const largest = 1000;
/** Entries that leave, besides as many as stay, until the next table. */
const slack = 64;

/**
 * A Map for entries that come and go with every job. While somebody iterates over it, entries may leave but none may come.
 * V8's own makes itself a new table again and again, and each old table refers to the next: once one of them is among the old
 * objects, all later ones live through every young collection with what they held, which then takes up to ten times as long.
 * So this begins with a fresh Map now and then.
 */
export class ShortLivedMap<Key, Value> {
  #entries: Map<Key, Value>;
  #left = 0;

  constructor(entries: Iterable<[Key, Value]> = []) {
    this.#entries = new Map(entries);
  }
  get size(): number {
    return this.#entries.size;
  }
  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }
  has(key: Key): boolean {
    return this.#entries.has(key);
  }
  set(key: Key, value: Value): void {
    if (this.#left > slack + this.size && this.size <= largest) {
      this.#left = 0;
      this.#entries = new Map(this.#entries);
    }
    this.#entries.set(key, value);
  }
  /** Returns true if it was there. */
  delete(key: Key): boolean {
    const wasThere = this.#entries.delete(key);
    if (wasThere) this.#left++;
    return wasThere;
  }
  clear(): void {
    if (this.size > 0) this.#entries = new Map();
  }
  keys(): Iterable<Key> {
    return this.#entries.keys();
  }
  values(): Iterable<Value> {
    return this.#entries.values();
  }
  [Symbol.iterator](): Iterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}
