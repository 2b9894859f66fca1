import { describe, expect, test } from "vitest";
import { createProvider } from "../../../../provider/dynamic/provider";
import { type EngineProperties, isSecret, markSecrets, toEngine } from "../../../../provider/engine/engine-properties";
import { toPropertyMap } from "../../../../provider/engine/protobuf-struct";
import { isRecord, type Properties, type PropertyMap, type Value } from "../../../../provider/engine/values";
import type { ResourceOperations } from "../../../../provider/framework/contract";
import { ResourceInitError } from "../../../../provider/framework/errors";
import { createProviderProcess, type ProviderProcess } from "../../../../provider/framework/process";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { configNames } from "../../../../provider/settings/setting-names";
import { clientsAt } from "../../../support/client-rig";
import { roundTrip } from "../../../support/property-sets";

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

/** The calls of a provider variant, as the engine makes them: values and results have marks at secrets. */
interface Engine {
  check(olds: EngineProperties, news: EngineProperties): Promise<EngineProperties>;
  create(news: EngineProperties): Promise<EngineProperties>;
  update(olds: EngineProperties, news: EngineProperties): Promise<EngineProperties>;
  /** Returns inputs and outputs. */
  read(state: EngineProperties, inputs: EngineProperties): Promise<[EngineProperties, EngineProperties]>;
  lookUp(): Promise<EngineProperties>;
}
type Variant = (operations: ResourceOperations, providerProcess: ProviderProcess) => Engine;

const urnOf = (kind: string) => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::chat`;
const marked = (sent: PropertyMap | undefined): EngineProperties => {
  const { properties, secretPaths } = roundTrip(sent);
  return markSecrets(toEngine(properties), secretPaths);
};
const initErrorOf = (error: unknown): ResourceInitError => {
  if (error instanceof ResourceInitError) return error;
  throw error;
};

const plugin =
  (preview: boolean): Variant =>
  (operations, providerProcess) => {
    const urn = urnOf(operations.kind);
    const calls = resourceCalls(providerProcess, { [operations.kind]: operations });
    const outputsOf = async (call: Promise<{ properties?: PropertyMap }>): Promise<EngineProperties> => {
      try {
        return marked((await call).properties);
      } catch (error) {
        const { outputs, secretPaths } = initErrorOf(error);
        return marked({ properties: outputs, secretPaths: secretPaths.outputs });
      }
    };
    const read = async (state: EngineProperties, inputs: EngineProperties) => {
      const maps = { properties: toPropertyMap(state), inputs: toPropertyMap(inputs) };
      const result = await calls.read({ id: "o1", urn, timeout: 0, ...maps });
      return [marked(result.inputs), marked(result.properties)] satisfies EngineProperties[];
    };
    return {
      check: async (olds, news) => {
        const maps = { olds: toPropertyMap(olds), news: toPropertyMap(news) };
        return marked((await calls.check({ urn, randomSeed: undefined, autonaming: undefined, ...maps })).inputs);
      },
      create: (news) => outputsOf(calls.create({ urn, timeout: 0, preview, properties: toPropertyMap(news) })),
      update: (olds, news) =>
        outputsOf(
          calls.update({ id: "o1", urn, timeout: 0, preview, olds: toPropertyMap(olds), news: toPropertyMap(news) }),
        ),
      read: async (state, inputs) => {
        const [newInputs = {}, outputs = {}] = await read(state, inputs);
        return [newInputs, outputs];
      },
      lookUp: async () => (await read({}, {}))[1] ?? {},
    };
  };

/** Copies marks to the results of a provider that receives plain values, like the engine. */
function annotateSecrets(results: EngineProperties, sent: EngineProperties): EngineProperties {
  const entries = Object.entries(results).map(([key, value]) => {
    const source = sent[key];
    if (isRecord(value) && isRecord(source) && !isSecret(value) && !isSecret(source))
      return [key, annotateSecrets(value, source)];
    return [key, isSecret(value) || !containsSecret(source) ? value : markSecrets({ value }, [["value"]])["value"]];
  });
  return Object.fromEntries(entries);
}
const containsSecret = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(containsSecret));

const dynamicProvider: Variant = (operations, providerProcess) => {
  const { check, create, update, read } = createProvider(operations, providerProcess);
  if (!check || !update || !read) throw new Error("an operation is missing");
  const plain = (sent: EngineProperties) => ({ ...toEngine(toPropertyMap(sent).properties), __urn: urnOf("Box") });
  const outputsOf = async (call: Promise<{ outs?: EngineProperties }>): Promise<EngineProperties> => {
    try {
      return (await call).outs ?? {};
    } catch (error) {
      if (isRecord(error) && isRecord(error["properties"])) return error["properties"];
      throw error;
    }
  };
  return {
    check: async (olds, news) => annotateSecrets((await check(plain(olds), plain(news))).inputs ?? {}, news),
    create: async (news) => annotateSecrets(await outputsOf(create(plain(news))), news),
    update: async (olds, news) => annotateSecrets(await outputsOf(update("o1", plain(olds), plain(news))), news),
    read: async (state, inputs) => {
      const result = await read("o1", plain(state));
      return [annotateSecrets(result.inputs ?? {}, inputs), annotateSecrets(result.props ?? {}, state)];
    },
    lookUp: async () => (await read("o1", { ...plain({}), __existing: true })).props ?? {},
  };
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

function start(variant: Variant, row: Row, outputs: EngineProperties, isUnfinished: boolean): Engine {
  const { clients, clock } = clientsAt("http://127.0.0.1:9");
  const connect = () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } });
  const providerProcess = { ...createProviderProcess(() => undefined), clock, connect };
  return variant(scripted(row, outputs, isUnfinished), providerProcess);
}

const variants: [string, Variant][] = [
  ["plugin", plugin(false)],
  ["plugin in a preview", plugin(true)],
  ["dynamic provider", dynamicProvider],
];

/** The commands of a user, and the property sets that they write to the state. */
const commands: [string, (engine: Engine, row: Row) => Promise<EngineProperties[]>][] = [
  [
    "create, which may adopt an object",
    async (engine, { program }) => {
      const inputs = await engine.check({}, program);
      return [inputs, await engine.create(inputs)];
    },
  ],
  [
    "update after another client's change",
    async (engine, { program }) => {
      const [olds, outputs] = await engine.read(program, program);
      const inputs = await engine.check(olds, program);
      return [inputs, await engine.update(outputs, inputs)];
    },
  ],
  [
    "update whose program omits the property",
    async (engine, { key, program, reported }) => {
      const olds = { ...markSecrets(reported, [[key]]), __defaults: [key] };
      const inputs = await engine.check(olds, program);
      return [inputs, await engine.update(olds, inputs)];
    },
  ],
  [
    "refresh and the refresh after it",
    async (engine, { program }) => {
      const [inputs, outputs] = await engine.read(program, program);
      return [inputs, outputs, ...(await engine.read(outputs, inputs))];
    },
  ],
  [
    "lookup and the refresh after it",
    async (engine) => {
      const outputs = await engine.lookUp();
      const [inputs, refreshed] = await engine.read(outputs, {});
      expect(Object.keys(inputs).filter((key) => !key.startsWith("__"))).toEqual([]);
      return [outputs, refreshed];
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
      const engine = start(variant, row, { ...row.reported, revision: "a1", dockerStartCmd: [] }, false);
      for (const written of await command(engine, { ...row, program })) expect(written).toMatchObject(shown);
    }
  });
});

test("the rows contain every property that is secret or may repeat a secret of another object", () => {
  expect(rows.filter(({ key }) => values[key] === undefined)).toEqual([]);
  expect(new Set(rows.map(({ key }) => key))).toEqual(new Set(Object.keys(values)));
});
