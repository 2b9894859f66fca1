import { afterEach, describe, expect, test } from "vitest";
import type { Properties, Value } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { type CollectionName, propertiesIn, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { inputSteps, inputTable } from "./support/input-table";
import type { ObjectKind } from "./support/kinds";
import { expectPreviewed } from "./support/previewed";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { serverlessUrl } = bench.addresses;
const { cases, bases } = await inputTable(bench);

const heldAt: Record<ObjectKind, CollectionName> = {
  Template: "templates",
  ServerlessEndpoint: "endpoints",
  NetworkVolume: "networkvolumes",
  Secret: "secrets",
  ContainerRegistryAuth: "containerregistryauth",
};

/** Outputs that only the service can determine. */
const unknown: Partial<Record<ObjectKind, { create: string[]; update: string[] }>> = {
  // A changed template increases the version.
  ServerlessEndpoint: { create: ["url", "version"], update: ["version"] },
};

const rows = cases.flatMap((one) =>
  inputSteps(one).map(([step, was, is]) => ({ kind: one.kind, input: one.input, step, was, is, one })),
);

let made: { kind: ObjectKind; id: string; outputs: Properties } | undefined;
afterEach(async () => {
  if (made) await kinds[made.kind].delete(made.id, made.outputs, bench.context());
  made = undefined;
});

test("the table contains every input of every kind", () => {
  const outputs = new Set(["revision", "url", "version", "reference"]);
  // It runs jobs, as JobInvoke does: verify.test.ts and job-runs.test.ts in test/unit/provider/resources have their changes.
  const runsJobs = new Set(["verify"]);
  const inputs = Object.values(kinds).flatMap(({ kind, traits }) =>
    Object.entries(traits).flatMap(([key, { dialect: carrier = dialect }]) =>
      kind === "JobInvoke" || outputs.has(key) || runsJobs.has(key) || carrier !== dialect ? [] : [`${kind} ${key}`],
    ),
  );
  expect(cases.map(({ kind, input }) => `${kind} ${input}`).sort()).toEqual(inputs.sort());
});

describe("a deployment does what its preview says", () => {
  test.each(rows)("$kind: $input $step", async ({ kind, input, was, is, one }) => {
    const lifecycle = kinds[kind];
    // Only an object whose name the program sets can be adopted.
    const named = input === "adoptExisting" ? { name: "subject" } : {};
    const inputsOf = (before: Properties, more: Properties): Properties => {
      const { inputs, failures } = lifecycle.check(
        before,
        { ...bases[kind], ...one.along, ...named, ...more },
        naming("subject-dev"),
        [],
        dialect,
      );
      expect(failures).toEqual([]);
      return inputs;
    };
    const olds = inputsOf({}, was);
    const news = inputsOf(olds, is);
    const { id, outputs } = await lifecycle.create(olds, bench.context());
    made = { kind, id, outputs };
    expectPreviewed(lifecycle.previewOutputs(undefined, olds, { serverlessUrl }), outputs, unknown[kind]?.create);

    const changes = lifecycle.diff(outputs, news, dialect);
    const meant = (value: Value | undefined): Value | undefined =>
      value !== undefined && (one.same ?? []).includes(value) ? undefined : value;
    const same = JSON.stringify(meant(olds[input])) === JSON.stringify(meant(news[input]));
    const keeps = one.kept === true && is[input] === undefined;
    const expected = same || keeps ? "nothing" : one.change;
    expect([...new Set(changes.map(({ path }) => path[0]))]).toEqual(expected === "nothing" ? [] : [input]);
    expect(changes.some(({ replace }) => replace)).toBe(expected === "replace");

    // The engine deletes first where the name has to be free.
    if (expected === "replace") {
      await lifecycle.delete(id, outputs, bench.context());
      made = { kind, ...(await lifecycle.create(news, bench.context())) };
    } else if (expected === "update") {
      if (one.written) bench.proxy.inject({ body: one.written }, { kind: "delayRequest", ms: 0 });
      const previewed = lifecycle.previewOutputs(outputs, news, { id, serverlessUrl });
      made = { kind, id, outputs: await lifecycle.update(id, outputs, news, bench.context()) };
      expectPreviewed(previewed, made.outputs, unknown[kind]?.update);
      expect(bench.proxy.pendingFaults()).toBe(0);
    }

    const held = (await bench.listObjects(heldAt[kind])).map(propertiesIn).find((each) => each["id"] === made?.id);
    if (!held) throw new Error(`the service holds no ${kind} of the id ${made.id}`);
    const { as, form } = one.told ?? { as: input, form: (value) => value };
    const kept = was[input];
    const absent = keeps && kept !== undefined ? form(kept) : one.absent;
    const wanted = is[input] === undefined ? absent : form(is[input]);
    if (!one.written && one.change !== "nothing") expect(held[as]).toEqual(wanted);
    // Neither a preview nor a refresh finds another change.
    expect(lifecycle.diff(made.outputs, news)).toEqual([]);
    const reading = await lifecycle.read(made.id, made.outputs, bench.context());
    expect(lifecycle.diff(reading?.outputs ?? {}, news)).toEqual([]);
    expect(reading?.outputs).toEqual({
      ...made.outputs,
      ...("version" in made.outputs ? { version: expect.any(Number) } : {}),
    });
  });
});
