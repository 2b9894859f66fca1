import { describe, expect, test } from "vitest";
import { type EngineProperties, isSecret, markSecrets } from "../../../../provider/engine/engine-properties";
import { toPropertyMap } from "../../../../provider/engine/protobuf-struct";
import type { Properties, Value } from "../../../../provider/engine/values";
import type { ResourceOperations } from "../../../../provider/framework/contract";
import { ResourceInitError } from "../../../../provider/framework/errors";
import { kinds } from "../../../../provider/resources";
import { clientsAt } from "../../../support/client-rig";
import { connectedProcess } from "../../../support/configured-process";
import { pluginVariant, providerVariants, type VariantCalls } from "../../../support/provider-variants";

const token = "4711-hub-token";
/** Values of all properties that are secret, or secret unless the program sets them. */
const values: Record<string, Value> = {
  env: { HUB_TOKEN: token },
  dockerArgs: `--token ${token}`,
  dockerEntrypoint: ["--token", token],
  dockerStartCmd: ["--token", token],
  value: token,
  password: token,
  s3Config: { accessSecret: token },
};

/** A property of a kind, the object at the service, and the program's inputs, which contain the value only if its shape is secret. */
interface Row {
  operations: ResourceOperations;
  key: string;
  program: EngineProperties;
  reported: EngineProperties;
}
const rows = Object.values(kinds).flatMap((operations: ResourceOperations): Row[] =>
  Object.entries(operations.options).flatMap(([key, { secret, foreignSecret }]) => {
    if (!secret && !foreignSecret) return [];
    const reported = { name: "chat", [key]: values[key] };
    const row = { operations, key, program: secret ? reported : { name: "chat" }, reported };
    if (key !== "env") return [row];
    const program = { name: "chat", env: { MODEL: "small" } };
    return [row, { ...row, program, reported: { ...program, env: { MODEL: "small", HUB_TOKEN: token } } }];
  }),
);

/** The operations of a kind, with these results. */
const scripted = ({ operations }: Row, outputs: EngineProperties, isUnfinished: boolean): ResourceOperations => {
  const properties: Properties = toPropertyMap(outputs).properties;
  const failUnfinished = () => {
    if (isUnfinished) throw new ResourceInitError("unfinished", "o1", properties);
  };
  return {
    ...operations,
    preflight: undefined,
    create: async () => {
      failUnfinished();
      return { id: "o1", outputs: properties };
    },
    read: async () => ({ inputs: properties, outputs: properties }),
    update: async () => {
      failUnfinished();
      return properties;
    },
    previewOutputs: () => properties,
  };
};

type Variant = (typeof providerVariants)["plugin"];

function start(variant: Variant, row: Row, outputs: EngineProperties, isUnfinished: boolean): VariantCalls {
  const { clients, clock } = clientsAt("http://127.0.0.1:9");
  return variant(scripted(row, outputs, isUnfinished), { ...connectedProcess(clients), clock });
}

const variants: [string, Variant][] = [
  ...Object.entries(providerVariants),
  ["plugin in a preview", pluginVariant(true)],
];

/** The commands of a user, and the property sets that they write to the state. */
const commands: [string, (calls: VariantCalls, row: Row) => Promise<EngineProperties[]>][] = [
  [
    "create, which may adopt an object",
    async (calls, { program }) => {
      const { inputs } = await calls.check({}, program);
      return [inputs, await calls.create(inputs)];
    },
  ],
  [
    "update after another client's change",
    async (calls, { program }) => {
      const state = await calls.read("o1", { inputs: program, outputs: program });
      const { inputs } = await calls.check(state.inputs, program);
      return [inputs, await calls.update("o1", state.outputs, inputs)];
    },
  ],
  [
    "update whose program omits the property",
    async (calls, { key, program, reported }) => {
      const olds = { ...markSecrets(reported, [[key]]), __defaults: [key] };
      const { inputs } = await calls.check(olds, program);
      return [inputs, await calls.update("o1", olds, inputs)];
    },
  ],
  [
    "refresh and the refresh after it",
    async (calls, { program }) => {
      const state = await calls.read("o1", { inputs: program, outputs: program });
      const later = await calls.read("o1", state);
      return [state.inputs, state.outputs, later.inputs, later.outputs];
    },
  ],
  [
    "lookup and the refresh after it",
    async (calls) => {
      const outputs = await calls.lookUp("o1");
      const refreshed = await calls.read("o1", { inputs: {}, outputs });
      expect(Object.keys(refreshed.inputs).filter((key) => !key.startsWith("__"))).toEqual([]);
      return [outputs, refreshed.outputs];
    },
  ],
];

describe.each(variants)("the %s", (_, variant) => {
  test.each(commands)("never writes a secret to the state as plain text: %s", async (_, command) => {
    const leaks: string[] = [];
    for (const row of rows)
      for (const isUnfinished of [false, true]) {
        const written = await command(start(variant, row, row.reported, isUnfinished), row);
        const text = JSON.stringify(written, (_key, value) => (isSecret(value) ? "[secret]" : value));
        expect(JSON.stringify(written)).toContain(token);
        if (text.includes(token))
          leaks.push(`${row.operations.kind}.${row.key}${isUnfinished ? " of an unfinished object" : ""}`);
      }
    expect(leaks).toEqual([]);
  });

  test.each(commands)("leaves values of the program and empty values as plain text: %s", async (name, command) => {
    const shown = {
      revision: "a1",
      dockerStartCmd: [],
      ...(!name.startsWith("lookup") && { env: { MODEL: "small" } }),
    };
    for (const row of rows.filter(({ program }) => "env" in program)) {
      const program = { ...row.program, ...shown };
      const calls = start(variant, row, { ...row.reported, revision: "a1", dockerStartCmd: [] }, false);
      for (const written of await command(calls, { ...row, program })) expect(written).toMatchObject(shown);
    }
  });
});

test("the rows contain every property that is secret or may repeat a secret of another object", () => {
  expect(rows.filter(({ key }) => values[key] === undefined)).toEqual([]);
  expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(Object.keys(values)));
});
