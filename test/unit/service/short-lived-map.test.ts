import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { ShortLivedMap } from "../../../service/short-lived-map";

test("behaves like a Map after many removals", () => {
  const map = new ShortLivedMap<number, string>();
  const plain = new Map<number, string>();
  for (let at = 0; at < 1000; at++) {
    map.set(at, `value ${at}`);
    plain.set(at, `value ${at}`);
    for (const deletedKey of [at - 16, at - 17]) expect(map.delete(deletedKey)).toBe(plain.delete(deletedKey));
    expect([map.size, map.get(at), map.has(at - 16)]).toEqual([plain.size, plain.get(at), false]);
  }
  expect([...map]).toEqual([...plain]);
  expect([...map.keys()]).toEqual([...plain.keys()]);
  expect([...map.values()]).toEqual([...plain.values()]);
});

test("an iteration skips entries removed during it, and visits each entry once", () => {
  const map = new ShortLivedMap<number, number>();
  const fill = (from: number): void => {
    for (let at = from; at < from + 200; at++) map.set(at, at);
  };
  fill(0);
  const received: number[] = [];
  for (const [key] of map) {
    received.push(key);
    map.delete(key);
    map.delete(key + 1);
  }
  expect(received).toEqual(Array.from({ length: 100 }, (_, at) => 2 * at));
  fill(200);
  expect(map.size).toBe(200);
});

test("removed entries are freed by the next young collection, even if the map itself is old", () => {
  setFlagsFromString("--expose-gc");
  const collect: (options: { type: "minor" | "major" }) => void = runInNewContext("gc");
  const map = new ShortLivedMap<number, number[]>();
  const pass = (at: number): void => {
    map.set(
      at,
      Array.from({ length: 100 }, () => at),
    );
    map.delete(at - 16);
  };
  for (let at = 0; at < 16; at++) pass(at);
  collect({ type: "major" });
  // Objects that survive two minor collections are old.
  for (let times = 0; times < 2; times++) collect({ type: "minor" });
  const before = getHeapStatistics().used_heap_size;
  for (let at = 16; at < 40_000; at++) {
    pass(at);
    if (at % 4000 === 0) collect({ type: "minor" });
  }
  collect({ type: "minor" });
  // A Map keeps most of the 40,000 entries of 0.8 kB.
  expect(getHeapStatistics().used_heap_size - before).toBeLessThan(4 * 1024 * 1024);
});
