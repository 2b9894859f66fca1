import { type Dialect, limits } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Path } from "../../../../provider/engine/values";
import { propertyOf } from "../../../../provider/framework/properties/schema";
import { kinds } from "../../../../provider/resources";
import { parseJobArgs } from "../../../../provider/resources/job-invoke/inputs";
import { configuredProcess } from "../../../support/configured-process";
import { providerVariants } from "../../../support/provider-variants";

/** Paths and shapes of the numbers in a shape. */
function numbersIn(shape: z.core.$ZodType, path: Path = []): { path: Path; shape: z.ZodNumber }[] {
  const { inner } = propertyOf(shape);
  if (inner instanceof z.ZodNumber) return [{ path, shape: inner }];
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([key, child]) => numbersIn(child, [...path, key]));
}

const inputs = Object.entries(kinds).flatMap(([kind, lifecycle]) =>
  numbersIn(lifecycle.inputs).map(({ path, shape }) => ({
    kind,
    lifecycle,
    input: [kind, ...path].join("."),
    path,
    shape,
  })),
);

/** An object with a value at a path. */
const nested = ([key = "", ...rest]: Path, value: number): Record<string, unknown> => ({
  [key]: rest.length === 0 ? value : nested(rest, value),
});

/** Checks inputs of a kind; returns the failures as texts. */
type Check = (input: (typeof inputs)[number], news: Record<string, unknown>, dialect: Dialect) => Promise<string[]>;

/** Checks of both provider variants and of the call of a program. */
const variants: Record<string, Check> = {
  ...Object.fromEntries(
    Object.entries(providerVariants).map(([name, variant]): [string, Check] => [
      `the ${name}`,
      async ({ lifecycle }, news, dialect) =>
        (await variant(lifecycle, configuredProcess({ dialect })).check({}, news)).failures,
    ]),
  ),
  invokeJob: async (_input, news) => {
    try {
      parseJobArgs({ endpointId: "e", input: {}, ...news });
      return [];
    } catch (error) {
      return error instanceof Error ? error.message.split("\n") : [String(error)];
    }
  },
};

test("the table has every number input", () => {
  expect(inputs.map(({ input }) => input)).toMatchInlineSnapshot(`
    [
      "NetworkVolume.size",
      "Template.containerDiskInGb",
      "Template.volumeInGb",
      "ServerlessEndpoint.containerDiskInGb",
      "ServerlessEndpoint.gpuCount",
      "ServerlessEndpoint.vcpuCount",
      "ServerlessEndpoint.idleTimeout",
      "ServerlessEndpoint.executionTimeoutMs",
      "ServerlessEndpoint.scalerValue",
      "ServerlessEndpoint.workersMin",
      "ServerlessEndpoint.workersMax",
      "ServerlessEndpoint.verify.request.expect.status",
      "ServerlessEndpoint.verify.timeout",
      "ServerlessEndpoint.verify.attempts",
      "ServerlessEndpoint.verify.policy.executionTimeout",
      "ServerlessEndpoint.verify.policy.ttl",
      "JobInvoke.request.expect.status",
      "JobInvoke.policy.executionTimeout",
      "JobInvoke.policy.ttl",
      "JobInvoke.timeout",
    ]
  `);
});

describe.each(Object.entries(variants))("the check of %s", (variant, check) => {
  const checked = inputs.filter(({ kind }) => kind === "JobInvoke" || variant !== "invokeJob");
  describe.each(checked)("of $input", (input) => {
    const { kind, path, shape } = input;
    const { minValue, maxValue, isInt } = shape;
    const [min, max] = [minValue ?? Number.NEGATIVE_INFINITY, maxValue ?? Number.POSITIVE_INFINITY];
    const key = path.at(-1) ?? "";
    const failuresOf = async (value: number, dialect: Dialect): Promise<string[]> =>
      (
        await check(input, { ...(kind === "Template" && { isServerless: false }), ...nested(path, value) }, dialect)
      ).filter((text) => new RegExp(`\\b${key}\\b`).test(text.replace(/must .*/, "")));

    test.each(["v1", "v2"] as const)("rejects every number out of bounds once (REST %s)", async (dialect) => {
      expect([min >= 0, max <= Math.max(limits.number, limits.ttl.max)]).toEqual([true, true]);
      const values = [1e21, -1e21, 2 ** 53, -(2 ** 53), max + 1, min - 1, 1e300, Number.NaN, Number.POSITIVE_INFINITY];
      for (const value of [...values, ...(isInt ? [min + 0.5, 1e-7] : [Number.MIN_VALUE])]) {
        const failures = await failuresOf(value, dialect);
        expect(failures, String(value)).toHaveLength(1);
        expect(failures[0], String(value)).toMatch(/must be /);
      }
    });

    test("accepts its bounds with REST v1 or v2", async () => {
      for (const bound of [min, max]) {
        const failures = await Promise.all([failuresOf(bound, "v1"), failuresOf(bound, "v2")]);
        expect(failures, String(bound)).toContainEqual([]);
      }
    });
  });
});
