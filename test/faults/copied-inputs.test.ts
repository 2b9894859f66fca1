import { isDeepStrictEqual } from "node:util";
import type { Dialect } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties, Value } from "../../provider/engine/values";
import { kinds, objectKindNames } from "../../provider/resources";
import { combinations, type DeployedResource, deployResource, variantNames } from "./support/engine-state";
import { records } from "./support/record-server";
import { type ReportedRow, reportedRows, required } from "./support/reported-values";

/** A row for each property without a row of its own: required ones, and those that no response contains. */
const otherRows = (dialect: Dialect, reported: readonly ReportedRow[]) =>
  objectKindNames.flatMap((kind) =>
    Object.keys(kinds[kind].inputs.shape)
      .filter((property) => !reported.some((row) => row.kind === kind && row.property === property))
      .map(
        (property): ReportedRow => ({
          kind,
          property,
          values: [],
          fields: () => ({}),
          program: required[kind],
          record: records[dialect][kind],
        }),
      ),
  );

/** Also a template of which a change of the workers' content is a replacement. */
const withReplacedTemplates = (rows: readonly ReportedRow[]) =>
  rows.flatMap((row) => {
    const plain = { ...row, title: `${row.kind}: ${row.property}` };
    if (row.kind !== "Template") return [plain];
    return [
      plain,
      { ...row, title: `${plain.title}, with replaceOnChange`, program: { ...row.program, replaceOnChange: true } },
    ];
  });

const unchanged = { failures: [], changes: false, replaces: [] };

/** Previews and deploys a program twice; neither changes anything. */
async function expectNoChanges(resource: DeployedResource, program: Properties, ignoreChanges: readonly string[]) {
  for (let round = 0; round < 2; round++) {
    const preview = await resource.preview(program, ignoreChanges);
    expect(preview).toMatchObject(unchanged);
    resource.keep(preview);
  }
}

/** Inputs that REST v1 does not return: the state contains pools only if the program selects them. */
const notInV1 = ["gpuPools", "excludedGpuTypeIds"];

describe.each(combinations)("with REST %s and the %s", (dialect, variant) => {
  const reported = reportedRows(dialect);
  const rows = withReplacedTemplates([...reported, ...otherRows(dialect, reported)]);

  test.each(rows)("$title, copied by the engine with ignoreChanges, is no change, also after drift", async (row) => {
    for (const ignoreChanges of [[row.property], ["*"]]) {
      const resource = await deployResource(variant, dialect, row);
      await expectNoChanges(resource, row.program, ignoreChanges);
      for (const value of row.values) {
        await resource.refresh(row.fields(value));
        await expectNoChanges(resource, row.program, ignoreChanges);
        // The program may also set it.
        await expectNoChanges(resource, { ...row.program, [row.property]: value }, ignoreChanges);
      }
      const [first] = row.values;
      // Without the option, the program omits the property, so any value is accepted.
      if (first !== undefined) expect(await resource.preview(row.program)).toMatchObject(unchanged);
    }
  });

  test.each(withReplacedTemplates(reported))(
    "$title, added to the program, is a change unless the object has it",
    async (row) => {
      const { property, program, values } = row;
      for (const value of values) {
        const resource = await deployResource(variant, dialect, row);
        await resource.refresh(row.fields(value));
        const added = await resource.preview({ ...program, [property]: value });
        if (dialect === "v1" && notInV1.includes(property)) {
          expect(added).toMatchObject({ failures: [], changes: !isDeepStrictEqual(value, []), replaces: [] });
          continue;
        }
        expect(added).toMatchObject(unchanged);
        const other = values.find((candidate) => candidate !== value);
        expect(await resource.preview({ ...program, [property]: other ?? null })).toMatchObject({ changes: true });
      }
    },
  );
});

/** Two values of each input of a JobInvoke, which has no object that could drift. */
const jobInputs: Record<string, [Value, Value]> = {
  endpointId: ["e1", "e2"],
  input: [{ prompt: "ping" }, { prompt: "hello" }],
  request: [
    { method: "GET", path: "/ping" },
    { method: "GET", path: "/other" },
  ],
  mode: ["sync", "async"],
  policy: [{ ttl: 20_000 }, { ttl: 30_000 }],
  webhook: ["https://hooks.example/a", "https://hooks.example/b"],
  s3Config: [{ bucketName: "a" }, { bucketName: "b" }],
  timeout: [60, 90],
  triggers: [["1"], ["2"]],
  expect: [{ output: { text: "a" } }, { output: { text: "b" } }],
  storeOutput: [false, true],
};

describe.each(variantNames)("an input of a JobInvoke with the %s", (variant) => {
  const programOf = (property: string): Properties =>
    property === "request" ? { endpointId: "e0" } : { endpointId: "e0", input: { prompt: "pong" } };
  const deploy = (program: Properties) =>
    deployResource(variant, "v2", { kind: "JobInvoke", program, record: { id: "j1" }, outputs: { jobId: "j1" } });

  test("is in the table", () => {
    expect(Object.keys(jobInputs).sort()).toEqual(Object.keys(kinds.JobInvoke.inputs.shape).sort());
  });

  test.each(Object.entries(jobInputs))("%s with ignoreChanges keeps its value", async (property, [value, other]) => {
    const program = { ...programOf(property), [property]: value };
    const changed = { ...program, [property]: other };
    for (const ignoreChanges of [[property], ["*"]]) {
      const resource = await deploy(program);
      await expectNoChanges(resource, changed, ignoreChanges);
      await resource.refresh({});
      await expectNoChanges(resource, changed, ignoreChanges);
      expect(await resource.preview(changed)).toMatchObject({ failures: [], changes: true, replaces: [] });
    }
  });

  const optional = Object.keys(jobInputs).filter((property) => !["endpointId", "input", "request"].includes(property));
  test.each(optional)("%s that the program omits is no change, also after a refresh", async (property) => {
    const resource = await deploy(programOf(property));
    await expectNoChanges(resource, programOf(property), []);
    await resource.refresh({});
    await expectNoChanges(resource, programOf(property), [property]);
    await expectNoChanges(resource, programOf(property), []);
  });
});

describe.each(variantNames)(
  "an endpoint of REST v2 whose settings differ from its template, with the %s",
  (variant) => {
    const row = {
      kind: "ServerlessEndpoint",
      program: required.ServerlessEndpoint,
      record: records.v2.ServerlessEndpoint,
    } as const;

    test.each([["imageName"], ["*"]])("stays as it is with ignoreChanges %s", async (path) => {
      const resource = await deployResource(variant, "v2", row);
      await resource.refresh({ image: "acme/other:1" });
      await expectNoChanges(resource, row.program, [path]);
      await resource.refresh({});
      await expectNoChanges(resource, row.program, [path]);
    });

    test("gets its template again without the option", async () => {
      const resource = await deployResource(variant, "v2", row);
      await resource.refresh({ image: "acme/other:1" });
      expect(await resource.preview(row.program)).toMatchObject({ failures: [], changes: true, replaces: [] });
    });
  },
);
