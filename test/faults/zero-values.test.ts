import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Properties, Value } from "../../provider/engine/values";
import { propertyOf } from "../../provider/framework/properties/schema";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { freshName, type ObjectCase, objectCases } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const ownTemplate = await bench.create("/templates", {
  name: "own",
  imageName: "a:1",
  env: { A: "1" },
  dockerStartCmd: ["--fast"],
  ports: ["80/http"],
  isServerless: true,
});

/** The zero value of a property; undefined if its type has none. */
function zeroOf(schema: z.core.$ZodType): Value | undefined {
  const { inner } = propertyOf(schema);
  if (inner instanceof z.ZodUnion) return inner.def.options.map(zeroOf).find((zero) => zero !== undefined);
  if (inner instanceof z.ZodString) return "";
  if (inner instanceof z.ZodNumber) return 0;
  if (inner instanceof z.ZodBoolean) return false;
  if (inner instanceof z.ZodArray) return [];
  return inner instanceof z.ZodRecord ? {} : undefined;
}

/** Inputs in which a zero value is allowed, besides the required ones. */
const contexts: Properties[] = [
  {},
  { computeType: "CPU", cpuFlavorIds: ["cpu3c"] },
  { isServerless: false },
  { templateId: null, imageName: "a:1" },
];

/** Each zero value that programs of the dialect may set, in the inputs that allow it. */
const rowsOf = ({ kind, news }: ObjectCase, dialect: Dialect) =>
  Object.entries(kinds[kind].inputs.shape).flatMap(([property, schema]) => {
    const zero = zeroOf(schema);
    if (zero === undefined) return [];
    const programs = contexts.map((more): Properties => ({ ...news, ...more, [property]: zero }));
    const isValid = (program: Properties): boolean =>
      kinds[kind].check({}, program, naming("chat-dev"), [], dialect).failures.length === 0;
    return programs.filter(isValid).map((program) => ({ title: `${property} in ${JSON.stringify(program)}`, program }));
  });

const cases = await objectCases(bench);
const dialects: Dialect[] = ["v1", "v2"];
const variants = dialects.flatMap((dialect) => cases.map((facts) => ({ dialect, kind: facts.kind, facts })));
describe.each(variants)("a zero value of a $kind with REST $dialect", ({ dialect, kind, facts }) => {
  const { check, create, diff, read, update, delete: remove } = kinds[kind];

  test.each(rowsOf(facts, dialect))("$title is kept, and is no change", async ({ program }) => {
    const context = bench.context({}, dialect);
    const name = freshName();
    const checked = (olds: Properties) => {
      const own = kind === "ServerlessEndpoint" && program["templateId"] !== null ? { templateId: ownTemplate } : {};
      return check(olds, { ...program, ...own }, naming(name), [], dialect).inputs;
    };
    const created = await create(checked({}), context);
    let { outputs } = created;
    const shown = Object.keys(program).filter((key) => program[key] !== null);
    const first = { ...outputs };
    for (let round = 0; round < 2; round++) {
      const inputs = checked(outputs);
      expect(diff(outputs, inputs, dialect)).toEqual([]);
      outputs = await update(created.id, outputs, inputs, context);
      expect(diff(outputs, checked(outputs), dialect)).toEqual([]);
      const result = await read(created.id, outputs, context);
      outputs = result?.outputs ?? {};
      for (const key of [...shown, "revision"]) expect(outputs[key], key).toEqual(first[key]);
    }
    expect(diff(outputs, checked(outputs), dialect)).toEqual([]);
    // Another test reads lists with REST v2, in which some zero values of REST v1 are invalid.
    await remove(created.id, outputs, context);
  });
});
