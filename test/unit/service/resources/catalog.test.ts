import { expect, test } from "vitest";
import { gpuPools, gpuTypesOf, shownGpuIds } from "../../../../service/resources/catalog";

test("a pool stands for its types, in the order in which pools are named", () => {
  expect(gpuTypesOf("AMPERE_48, ADA_24")).toEqual(["NVIDIA RTX A6000", "NVIDIA A40", "NVIDIA GeForce RTX 4090"]);
});

test("a minus leaves one type of a pool out", () => {
  expect(gpuTypesOf("AMPERE_48,-NVIDIA A40")).toEqual(["NVIDIA RTX A6000"]);
});

test("a name that no pool has is taken for a GPU type", () => {
  expect(gpuTypesOf("NVIDIA Z9")).toEqual(["NVIDIA Z9"]);
});

test("types are told as pools without the rest of the pool, and read back the same", () => {
  const types = ["NVIDIA A40", "NVIDIA Z9", "NVIDIA L4"];
  const gpuIdsOf = (gpuTypeIds: string[]): string => shownGpuIds({ gpuTypeIds });
  expect(gpuTypesOf(gpuIdsOf(types)).sort()).toEqual([...types].sort());
  expect(gpuIdsOf(["NVIDIA A40"])).toBe("AMPERE_48,-NVIDIA RTX A6000");
  expect(gpuIdsOf([])).toBe("");
});

test("each GPU type is in one pool", () => {
  const types = gpuPools.flatMap((pool) => pool.gpuTypeIds);
  expect(new Set(types).size).toBe(types.length);
});
