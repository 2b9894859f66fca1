import { expect, test } from "vitest";
import {
  countryOf,
  cudaVersionsOf,
  gpuPools,
  gpuTypesOf,
  pricePerHour,
  shownGpuIds,
} from "../../../../service/resources/catalog";

test("a pool expands to its types, in the order of the pools", () => {
  expect(gpuTypesOf("AMPERE_48, ADA_24")).toEqual(["NVIDIA RTX A6000", "NVIDIA A40", "NVIDIA GeForce RTX 4090"]);
});

test("a minus excludes a type of a pool", () => {
  expect(gpuTypesOf("AMPERE_48,-NVIDIA A40")).toEqual(["NVIDIA RTX A6000"]);
});

test("a name without a pool is a GPU type", () => {
  expect(gpuTypesOf("NVIDIA Z9")).toEqual(["NVIDIA Z9"]);
});

test("types are written as pools with the other types excluded, and are read back unchanged", () => {
  const types = ["NVIDIA A40", "NVIDIA Z9", "NVIDIA L4"];
  const gpuIdsOf = (gpuTypeIds: string[]): string => shownGpuIds({ gpuTypeIds });
  expect(gpuTypesOf(gpuIdsOf(types)).sort()).toEqual([...types].sort());
  expect(gpuIdsOf(["NVIDIA A40"])).toBe("AMPERE_48,-NVIDIA RTX A6000");
  expect(gpuIdsOf([])).toBe("");
});

test("each GPU type is in at most one pool", () => {
  const types = gpuPools.flatMap((pool) => pool.gpuTypeIds);
  expect(new Set(types).size).toBe(types.length);
});

test.each([
  ["ADA_24", 1.116],
  ["BLACKWELL_180", 8.64],
  ["nosuch", null],
  [undefined, null],
])("the pool %s costs %s US dollars per hour", (pool, price) => {
  expect(pricePerHour(pool)).toBe(price);
});

test("machines with AMD GPUs have no CUDA version", () => {
  expect(cudaVersionsOf({ manufacturer: "AMD" })).toEqual([]);
  expect(cudaVersionsOf({ manufacturer: "Nvidia" })).toContain("12.8");
});

test.each([
  ["US-TX-3", "US"],
  ["CA-MTL-1", "CA"],
  ["EU-RO-1", "RO"],
])("the data centre %s is in the country %s", (id, country) => {
  expect(countryOf(id)).toBe(country);
});
