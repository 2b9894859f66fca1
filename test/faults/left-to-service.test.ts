import type { Dialect } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { propertyOf } from "../../provider/framework/properties/schema";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { send } from "../support/raw-http";
import { clientsReturning, records } from "./support/record-server";
import { type ReportedRow, reportedRows, required, rows } from "./support/reported-values";

const bench = await useLifecycleBench();

/** Properties that no response contains. */
const unreportedProperties = ["name", "adoptExisting", "verify", "replaceOnChange"];
/** Properties of which a program sets at least one, so that neither is left to the service. */
const sourcesOfContainer = ["ServerlessEndpoint templateId", "ServerlessEndpoint imageName"];
const optional = (dialect: Dialect): string[] =>
  Object.values(kinds).flatMap(({ kind, inputs }) =>
    Object.entries(inputs.shape).flatMap(([key, schema]) => {
      const { dialect: requiredDialect = dialect } = optionsOf(schema);
      const isRow = propertyOf(schema).optional && !unreportedProperties.includes(key) && requiredDialect === dialect;
      const row = `${kind} ${key}`;
      return isRow && kind !== "JobInvoke" && !sourcesOfContainer.includes(row) ? [row] : [];
    }),
  );

describe.each<Dialect>(["v1", "v2"])("with REST %s", (dialect) => {
  /** Returns the state and inputs of a program, and a function with the differences after a refresh that reads `fields`. */
  async function deployed({ kind, program, record }: Pick<ReportedRow, "kind" | "program" | "record">) {
    const lifecycle = kinds[kind];
    const { inputs, failures } = lifecycle.check({}, program, naming(), [], dialect);
    expect(failures).toEqual([]);
    const refreshed = async (olds: Properties, fields: object) => {
      const clients = await clientsReturning(dialect, kind, { ...record, ...fields });
      const readResult = await lifecycle.read(record.id, olds, bench.context({ clients }, dialect));
      return readResult?.outputs ?? {};
    };
    const changes = (olds: Properties) => lifecycle.diff(olds, inputs, dialect).map(({ path: [key] }) => key);
    return { changes, refreshed, state: await refreshed({ ...inputs, version: 1 }, {}) };
  }

  test("the table contains every optional property", () => {
    const optionalRows = rows.filter(({ kind, property }) => optional(dialect).includes(`${kind} ${property}`));
    expect(optionalRows.map(({ kind, property }) => `${kind} ${property}`).sort()).toEqual(optional(dialect).sort());
  });

  test.each(reportedRows(dialect))(
    "$kind: $property accepts every value if omitted",
    async ({ values, fields, ...row }) => {
      const { changes, refreshed, state } = await deployed(row);
      for (const value of values) expect(changes(await refreshed(state, fields(value)))).toEqual([]);
    },
  );

  // The contract of REST v2 does not require these fields.
  const containerFields = ["image", "args", "entrypoint", "cmd", "disk", "env", "ports", "registry"];
  test("ServerlessEndpoint: a record without the container fields of REST v2 is no drift", async () => {
    const { changes, refreshed, state } = await deployed({
      kind: "ServerlessEndpoint",
      program: required.ServerlessEndpoint,
      record: records[dialect].ServerlessEndpoint,
    });
    const after = await refreshed(state, Object.fromEntries(containerFields.map((field) => [field, undefined])));
    expect(after).toEqual(state);
    expect(changes(after)).toEqual([]);
  });

  const withDefault = reportedRows(dialect).flatMap((row) => {
    const schema = kinds[row.kind].inputs.shape[row.property];
    const defaultValue = schema && propertyOf(schema).defaultValue;
    // In REST v2 an empty list of GPU types accepts any type, even if the program sets it.
    const acceptsAny = dialect === "v2" && row.property === "gpuTypeIds";
    return defaultValue === undefined || acceptsAny ? [] : [{ ...row, defaultValue }];
  });
  test.each(withDefault)(
    "$kind: $property set to its default detects drift from it",
    async ({ defaultValue, ...row }) => {
      const { changes, refreshed, state } = await deployed({
        ...row,
        program: { ...row.program, [row.property]: defaultValue },
      });
      const after = await refreshed(state, row.fields(row.values.at(-1) ?? ""));
      expect(changes(after)).toEqual([row.property]);
    },
  );
});

test("flashboot in REST v2: PRIORITY_FLASHBOOT is drift from false, and is accepted for true", async () => {
  const { ServerlessEndpoint } = kinds;
  const record = { ...records.v2.ServerlessEndpoint, flashboot: "PRIORITY_FLASHBOOT" };
  const clients = await clientsReturning("v2", "ServerlessEndpoint", record);
  for (const flashboot of [false, true]) {
    const { inputs } = ServerlessEndpoint.check({}, { ...required.ServerlessEndpoint, flashboot }, naming(), [], "v2");
    const read = await ServerlessEndpoint.read("e1", { ...inputs, version: 1 }, bench.context({ clients }, "v2"));
    expect(ServerlessEndpoint.diff(read?.outputs ?? {}, inputs, "v2").map(({ path: [key] }) => key)).toEqual(
      flashboot ? [] : ["flashboot"],
    );
  }
});

test.each<[before: Properties, after: Properties]>([
  [{}, { flashboot: true }],
  [{ flashboot: true }, {}],
  [{ flashbootType: "PRIORITY_FLASHBOOT" }, { flashboot: true }],
  [{}, { gpuTypeIds: ["NVIDIA L4"] }],
  [{ gpuTypeIds: ["NVIDIA L4"] }, {}],
])("an update of an endpoint in REST v2 from %j to %j keeps no value that it has changed", async (before, after) => {
  const { ServerlessEndpoint } = kinds;
  const context = () => bench.context({}, "v2");
  const check = (olds: Properties, more: Properties) =>
    ServerlessEndpoint.check(olds, { name: "alternatives", imageName: "acme/echo:1", ...more }, naming(), [], "v2")
      .inputs;
  const { id, outputs } = await ServerlessEndpoint.create(check({}, before), context());
  const state = (await ServerlessEndpoint.read(id, outputs, context()))?.outputs ?? {};
  const news = check(state, after);
  const updated = await ServerlessEndpoint.update(id, state, news, context());
  const read = await ServerlessEndpoint.read(id, updated, context());
  await ServerlessEndpoint.delete(id, updated, context());
  const { __defaults: _omitted, ...values } = updated;
  expect(read?.outputs).toMatchObject(values);
});

test.each<[program: Properties, changes: string[], type: string]>([
  [{}, [], "REQUEST_COUNT"],
  [{ idleTimeout: 60 }, ["idleTimeout"], "QUEUE_DELAY"],
])(
  "a program with %j that omits scalerType: REQUEST_COUNT, set in REST v2, is drift of %j, and an update leads to %s",
  async (program, changes, type) => {
    const { ServerlessEndpoint } = kinds;
    const context = () => bench.context({}, "v2");
    const check = (olds: Properties) =>
      ServerlessEndpoint.check(olds, { name: "scaler", imageName: "acme/echo:1", ...program }, naming(), [], "v2")
        .inputs;
    const { id, outputs } = await ServerlessEndpoint.create(check({}), context());
    const path = `${bench.addresses.serverlessUrl}/v2/serverless/${id}`;
    const patch = { scaling: { type: "REQUEST_COUNT", requestCount: 4 } };
    await send("PATCH", path, { key: bench.addresses.apiKey, json: patch });
    const state = (await ServerlessEndpoint.read(id, outputs, context()))?.outputs ?? {};
    const news = check(state);
    const pathsOf = (olds: Properties) => ServerlessEndpoint.diff(olds, news, "v2").map(({ path: [key] }) => key);
    expect(pathsOf(state)).toEqual(changes);
    const updated = changes.length > 0 ? await ServerlessEndpoint.update(id, state, news, context()) : state;
    const { json } = await send("GET", path, { key: bench.addresses.apiKey });
    await ServerlessEndpoint.delete(id, updated, context());
    expect(json).toMatchObject({ scaling: { type } });
    expect(pathsOf(updated)).toEqual([]);
  },
);
