import { describe, expect, test } from "vitest";
import { gpuTypesIn, poolsContaining, poolsOf, selectPools } from "../../../api/dialects/gpu-pools";
import { apiErrorOf } from "../../support/client-rig";

const pools = poolsOf([
  { id: "A40", pool: "AMPERE_48" },
  { id: "L4", pool: "AMPERE_24" },
  { id: "A5000", pool: "AMPERE_24" },
  { id: "A30" },
  { id: "H100", pool: "HOPPER_80" },
]);
const request = { method: "POST", url: "http://127.0.0.1/v2/serverless" };
const choose = (gpuTypeIds: string[], excludedGpuTypeIds: string[] = [], gpuPools: string[] = []) =>
  selectPools(pools, { gpuTypeIds, excludedGpuTypeIds, gpuPools }, request);

describe("the pools of requested types", () => {
  test.each([
    [
      "follow the order of the types, and exclude their other types",
      ["H100", "L4"],
      [],
      [],
      "HOPPER_80 AMPERE_24 -A5000",
    ],
    ["exclude no type if all are requested", ["A5000", "L4"], [], [], "AMPERE_24"],
    ["are all without types, minus the excluded, each once", [], ["L4", "L4"], [], "AMPERE_48 AMPERE_24 HOPPER_80 -L4"],
    [
      "are those of the program, each once, minus the excluded types",
      [],
      ["L4"],
      ["HOPPER_80", "AMPERE_24", "HOPPER_80"],
      "HOPPER_80 AMPERE_24 -L4",
    ],
  ])("%s", (_rule, types, excluded, requested, expected) => {
    const { pools, excludedTypes } = choose(types, excluded, requested);
    expect([...pools, ...excludedTypes.map((type) => `-${type}`)].join(" ")).toBe(expected);
  });

  test("are an error for an unknown pool, which lists the pools", async () => {
    const error = await apiErrorOf(Promise.resolve().then(() => choose([], [], ["AMPERE_24", "L4"])));
    expect(error).toMatchObject({ category: "invalid" });
    expect(error.message).toBe('gpuPools: the service has no "L4"; its pools are AMPERE_48, AMPERE_24, HOPPER_80');
  });

  test.each([
    ["gpuTypeIds", ["L4", "AMPERE_24"], []],
    ["excludedGpuTypeIds", [], ["AMPERE_24"]],
  ])("are an error with the pool's types for a pool in %s", async (property, types, excluded) => {
    const error = await apiErrorOf(Promise.resolve().then(() => choose(types, excluded)));
    expect(error.message).toBe(`${property}: "AMPERE_24" is a pool of: L4, A5000; set these types instead`);
  });

  test.each([
    ["gpuTypeIds", ["A30", "B200"], []],
    ["excludedGpuTypeIds", [], ["A30", "B200"]],
  ])(
    "are an error for types without a pool in %s; the error lists the valid types",
    async (property, types, excluded) => {
      const error = await apiErrorOf(Promise.resolve().then(() => choose(types, excluded)));
      expect(error).toMatchObject({ category: "invalid" });
      expect(error.message).toBe(
        `${property}: no pool of serverless endpoints has "A30", "B200"; the types of its pools are A40, L4, A5000, H100`,
      );
    },
  );
});

test("an unordered list of types selects the pools that contain them", () => {
  expect(poolsContaining(pools, ["H100", "L4"])).toEqual({
    pools: ["AMPERE_24", "HOPPER_80"],
    excludedTypes: ["A5000"],
  });
  expect(poolsContaining(pools, [])).toEqual({ pools: [], excludedTypes: [] });
});

test("a type without a pool counts as a pool in both directions", () => {
  const selection = poolsContaining(pools, ["B200", "H100"]);
  expect(selection).toEqual({ pools: ["HOPPER_80", "B200"], excludedTypes: [] });
  expect(gpuTypesIn(pools, selection).gpuTypeIds).toEqual(["H100", "B200"]);
});

test.each([
  ["gpuPools", ["AMPERE_24"], []],
  ["excludedGpuTypeIds", [], ["L4"]],
])("%s of a service without pools is an error that names gpuTypeIds", async (property, gpuPools, excluded) => {
  const select = () => selectPools(new Map(), { gpuPools, excludedGpuTypeIds: excluded }, request);
  const error = await apiErrorOf(Promise.resolve().then(select));
  expect(error.message).toBe(`${property}: the service lists no pools; set gpuTypeIds instead`);
});

test.each([
  ["some pools", { pools: ["AMPERE_24"], excludedTypes: ["L4"] }, ["A5000"], false],
  [
    "all pools",
    { pools: ["HOPPER_80", "AMPERE_48", "AMPERE_24"], excludedTypes: ["L4"] },
    ["H100", "A40", "A5000"],
    true,
  ],
  ["no pools", { pools: [], excludedTypes: [] }, [], true],
  ["an unknown pool", { pools: ["BLACKWELL_96"], excludedTypes: [] }, ["BLACKWELL_96"], false],
])("%s contain their types, minus the excluded ones", (_pools, choice, gpuTypeIds, anyGpuType) => {
  expect(gpuTypesIn(pools, choice)).toEqual({
    gpuTypeIds,
    anyGpuType,
    excludedGpuTypeIds: choice.excludedTypes,
    gpuPools: choice.pools,
  });
});
