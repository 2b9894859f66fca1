import { afterEach, describe, expect, test } from "vitest";
import type { Properties, Value } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { collections, inputSteps, inputTable } from "./support/input-table";
import type { ObjectKind } from "./support/kinds";
import { expectPreviewOutputs } from "./support/preview-outputs";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { serverlessUrl } = bench.addresses;
const { cases, bases } = await inputTable(bench);

/** Outputs that only the service can determine. */
const unknownOutputs: Partial<Record<ObjectKind, { create: string[]; update: string[] }>> = {
  // A changed template increases the version.
  ServerlessEndpoint: { create: ["url", "version"], update: ["version"] },
};

/** Inputs whose values the service determines if the program omits them. Serverless templates have no volume. */
const determinedOutputs = (kind: ObjectKind, inputs: Properties): string[] =>
  Object.entries(kinds[kind].options).flatMap(([key, { computedWhenUnset, reportedWhenUnset }]) =>
    (computedWhenUnset ?? reportedWhenUnset) &&
    key !== "volumeInGb" &&
    inputs[key] === undefined &&
    (key !== "containerDiskInGb" || inputs["templateId"] === undefined) &&
    (key !== "gpuPools" || JSON.stringify(inputs["gpuTypeIds"]) === "[]")
      ? [key]
      : [],
  );

/** The state after a refresh. A read may contain a newer version. */
async function refreshed(kind: ObjectKind, id: string, outputs: Properties): Promise<Properties> {
  const result = await kinds[kind].read(id, outputs, bench.context());
  return { ...result?.outputs, ...("version" in outputs && { version: outputs["version"] }) };
}

const rows = cases.flatMap((inputCase) =>
  inputSteps(inputCase).map(([step, oldInputs, newInputs]) => ({
    kind: inputCase.kind,
    input: inputCase.input,
    step,
    oldInputs,
    newInputs,
    inputCase,
  })),
);

let created: { kind: ObjectKind; id: string; outputs: Properties } | undefined;
afterEach(async () => {
  if (created) await kinds[created.kind].delete(created.id, created.outputs, bench.context());
  created = undefined;
});

test("the table contains every input of every kind", () => {
  const outputs = new Set(["revision", "url", "version", "reference"]);
  // verify runs jobs, like JobInvoke: verify.test.ts and job-runs.test.ts in test/unit/provider/resources test their changes.
  const runsJobs = new Set(["verify"]);
  const inputs = Object.values(kinds).flatMap(({ kind, options }) =>
    Object.entries(options).flatMap(([key, { dialect: requiredDialect = dialect }]) =>
      kind === "JobInvoke" || outputs.has(key) || runsJobs.has(key) || requiredDialect !== dialect
        ? []
        : [`${kind} ${key}`],
    ),
  );
  expect(cases.map(({ kind, input }) => `${kind} ${input}`).sort()).toEqual(inputs.sort());
});

describe("a deployment matches its preview", () => {
  test.each(rows)("$kind: $input $step", async ({ kind, input, oldInputs, newInputs, inputCase }) => {
    const lifecycle = kinds[kind];
    // Only an object whose name the program sets can be adopted.
    const nameInput = input === "adoptExisting" ? { name: "subject" } : {};
    const inputsOf = (before: Properties, more: Properties): Properties => {
      const { inputs, failures } = lifecycle.check(
        before,
        { ...bases[kind], ...inputCase.relatedInputs, ...nameInput, ...more },
        naming("subject-dev"),
        [],
        dialect,
      );
      expect(failures).toEqual([]);
      return inputs;
    };
    const olds = inputsOf({}, oldInputs);
    const news = inputsOf(olds, newInputs);
    const { id, outputs } = await lifecycle.create(olds, bench.context());
    created = { kind, id, outputs };
    expectPreviewOutputs(lifecycle.previewOutputs(undefined, olds, { serverlessUrl }), outputs, [
      ...(unknownOutputs[kind]?.create ?? []),
      ...determinedOutputs(kind, olds),
    ]);

    expect(await refreshed(kind, id, outputs)).toEqual(outputs);

    const changes = lifecycle.diff(outputs, news, dialect);
    const normalize = (value: Value | undefined): Value | undefined =>
      value !== undefined && (inputCase.equivalent ?? []).includes(value) ? undefined : value;
    const isSame = JSON.stringify(normalize(olds[input])) === JSON.stringify(normalize(news[input]));
    const keepsValue = inputCase.computedWhenUnset === true && newInputs[input] === undefined;
    const expected = isSame || keepsValue ? "nothing" : inputCase.change;
    expect([...new Set(changes.map(({ path }) => path[0]))]).toEqual(expected === "nothing" ? [] : [input]);
    expect(changes.some(({ replace }) => replace)).toBe(expected === "replace");

    // The engine deletes first if the name must be free.
    if (expected === "replace") {
      await lifecycle.delete(id, outputs, bench.context());
      created = { kind, ...(await lifecycle.create(news, bench.context())) };
    } else if (expected === "update") {
      if (inputCase.requestPattern)
        bench.proxy.inject({ body: inputCase.requestPattern }, { kind: "delayRequest", ms: 0 });
      const previewed = lifecycle.previewOutputs(outputs, news, { id, serverlessUrl });
      created = { kind, id, outputs: await lifecycle.update(id, outputs, news, bench.context()) };
      const isChanged = (key: string): boolean => {
        const { alternativeTo, reportedWhenUnset } = kinds[kind].options[key] ?? {};
        return (
          [key, alternativeTo].includes(input) || (!(key in outputs) && reportedWhenUnset?.includes(input) === true)
        );
      };
      expectPreviewOutputs(previewed, created.outputs, [
        ...(unknownOutputs[kind]?.update ?? []),
        ...determinedOutputs(kind, news).filter(isChanged),
      ]);
      expect(bench.proxy.pendingFaults()).toBe(0);
    }

    const object = (await bench.listObjects(collections[kind]))
      .map(propertiesIn)
      .find((each) => each["id"] === created?.id);
    if (!object) throw new Error(`the service has no ${kind} with the id ${created.id}`);
    const { name, convert } = inputCase.inResponse ?? { name: input, convert: (value) => value };
    const kept = oldInputs[input];
    const absent = keepsValue && kept !== undefined ? convert(kept) : inputCase.absentValue;
    const expectedValue = newInputs[input] === undefined ? absent : convert(newInputs[input]);
    if (!inputCase.requestPattern && inputCase.change !== "nothing") expect(object[name]).toEqual(expectedValue);
    // Neither a preview nor a refresh finds another change.
    expect(lifecycle.diff(created.outputs, news)).toEqual([]);
    const readResult = await lifecycle.read(created.id, created.outputs, bench.context());
    expect(lifecycle.diff(readResult?.outputs ?? {}, news)).toEqual([]);
    expect(await refreshed(kind, created.id, created.outputs)).toEqual(created.outputs);
  });
});
