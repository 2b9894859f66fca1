import type { Dialect } from "serverless-compute-api";
import { optionsOf } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { propertyOf } from "../../provider/framework/properties/schema";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
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
