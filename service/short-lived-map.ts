/** Number of entries above which a new table costs more than it saves. */
const maxCopiedEntries = 1000;
/** Number of deleted entries, in addition to the remaining entries, before the next table. */
const minDeletedEntries = 64;

/**
 * A Map for entries that live as long as a job. During an iteration, entries may be deleted but not added. V8's Map reallocates its table
 * repeatedly, and each old table refers to the next table. Once a table is in the old generation, all later tables and their entries
 * survive every young collection, which then takes up to ten times as long. Therefore, this class occasionally moves its entries to a new
 * Map.
 */
export class ShortLivedMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #left = 0;

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
    if (this.#left > minDeletedEntries + this.size && this.size <= maxCopiedEntries) {
      this.#left = 0;
      this.#entries = new Map(this.#entries);
    }
    this.#entries.set(key, value);
  }
  /** Deletes an entry; returns whether it existed. */
  delete(key: Key): boolean {
    const existed = this.#entries.delete(key);
    if (existed) this.#left++;
    return existed;
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

/** A ShortLivedMap that its user cannot change. */
export type ReadonlyShortLivedMap<Key, Value> = Pick<
  ShortLivedMap<Key, Value>,
  "size" | "get" | "has" | "keys" | "values" | typeof Symbol.iterator
>;
