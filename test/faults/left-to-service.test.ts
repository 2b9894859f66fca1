import type { Dialect } from "serverless-compute-api";
import { type Fields, plainEndpointFields, templateFields, traitsOf } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import type { Properties, Value } from "../../provider/lifecycle/contract";
import { propertyOf } from "../../provider/lifecycle/properties/schema";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { plainProperties } from "../support/sample-values";
import type { ObjectKind } from "./support/kinds";
import { clientsReturning, records } from "./support/record-server";

const bench = await useLifecycleBench();

/** Required properties of each kind. */
const required: Record<ObjectKind, Properties> = {
  Template: { name: "chat-dev", imageName: "acme/echo:1" },
  ServerlessEndpoint: { name: "chat-dev", templateId: "t1" },
  NetworkVolume: { name: "chat-dev", size: 10, dataCenterId: "EU-RO-1" },
  Secret: { name: "chat-dev", value: "value-of-the-test" },
  ContainerRegistryAuth: { name: "chat-dev", username: "someone", password: "password-of-the-test" },
};

/** An optional property, with possible values of the service; the last is not the default. */
interface Row {
  kind: ObjectKind;
  property: string;
  values: readonly Value[];
  /** Fields of a record for a value; the property itself by default, null if the dialect does not return it. */
  v1?: ((value: Value) => object) | null;
  v2?: ((value: Value) => object) | null;
  /** True if only records of CPU workers contain it. */
  onCpu?: true;
}

/** Rows of a kind: explicit rows, and a row for each other plain property of its `fields`. */
function rowsOf(kind: ObjectKind, rows: Record<string, Omit<Row, "kind" | "property">>, fields: Fields = {}): Row[] {
  const plain = plainProperties(fields, [...Object.keys(rows), ...Object.keys(required[kind])]);
  const all = { ...rows, ...Object.fromEntries(plain.map(({ name, values }) => [name, { values }])) };
  return Object.entries(all).map(([property, row]) => ({ kind, property, ...row }));
}

const gpu = (more: object) => ({ gpu: { ...records.v2.ServerlessEndpoint.gpu, ...more } });
const workers = (more: object) => ({ workers: { ...records.v2.ServerlessEndpoint.workers, ...more } });
const cpu = (id: Value, vcpuCount: Value) => ({ gpu: undefined, cpu: [{ id, vcpuCount, memory: 8 }] });
const mount = (size: Value, path: Value) => ({ mounts: size === 0 ? {} : { persistent: { size, path } } });
const toList = (value: Value): Value[] => (Array.isArray(value) ? value : []);
const asJson = (lists: object) => JSON.stringify(lists);
const scaling = {
  QUEUE_DELAY: { scaling: { type: "QUEUE_DELAY", queueDelay: 4 } },
  REQUEST_COUNT: { scaling: { type: "REQUEST_COUNT", requestCount: 4 }, workers: { min: 0, max: 3 } },
};
const booleans = { values: [true, false] };

const rows: Row[] = [
  ...rowsOf(
    "Template",
    {
      containerDiskInGb: { values: [50, 1, 20, 500], v2: (disk) => ({ disk }) },
      volumeInGb: { values: [0, 20, 4000], v2: (size) => mount(size, "/workspace") },
      dockerArgs: { values: ["", "python main.py"], v2: (args) => ({ args }) },
      dockerEntrypoint: {
        values: [[], ["sh", "-c"]],
        v1: (list) => ({ dockerArgs: toList(list).length === 0 ? "" : asJson({ entrypoint: list, cmd: [] }) }),
        v2: (entrypoint) => ({ entrypoint }),
      },
      dockerStartCmd: {
        values: [[], ["python", "a b.py"]],
        v1: (list) => ({ dockerArgs: toList(list).length === 0 ? "" : asJson({ entrypoint: [], cmd: list }) }),
        v2: (cmd) => ({ cmd }),
      },
      env: { values: [{}, { MODEL: "mistral-7b" }] },
      ports: { values: ["", "80/http", "80/http,22/tcp"], v2: (ports) => ({ ports: String(ports).split(",") }) },
      readme: { values: ["", "text"], v2: null },
      volumeMountPath: { values: ["/workspace", "/data"], v2: (path) => mount(20, path) },
      isServerless: { ...booleans, v2: (serverless) => ({ serverless }) },
      containerRegistryAuthId: { values: ["", "r1"], v2: (registry) => ({ registry: registry || null }) },
      startSsh: { ...booleans, v1: null },
      startJupyter: { ...booleans, v1: null },
      isPublic: { ...booleans, v1: null, v2: (isPublic) => ({ public: isPublic }) },
      category: { values: ["CPU", "NVIDIA", "AMD"], v1: null },
      allowedCudaVersions: { values: [[], ["12.4"], ["12.4", "12.5"]] },
    },
    templateFields,
  ),
  ...rowsOf(
    "ServerlessEndpoint",
    {
      computeType: { values: ["GPU", "CPU"], v2: (type) => (type === "CPU" ? cpu("cpu3c", 2) : {}) },
      gpuTypeIds: {
        values: [[], ["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"], ["NVIDIA A40"]],
        v2: (types) =>
          gpu({
            pools: toList(types).map((type) => ({ "NVIDIA L4": "ADA_24", "NVIDIA A40": "AMPERE_48" })[String(type)]),
          }),
      },
      excludedGpuTypeIds: {
        values: [[], ["NVIDIA A40"]],
        v2: (excludedTypes) => gpu({ pools: ["ADA_24", "AMPERE_48"], excludedTypes }),
      },
      gpuCount: { values: [1, 2, 8], v2: (count) => gpu({ count }) },
      cpuFlavorIds: {
        values: [["cpu3c"], ["cpu5g"]],
        v1: (cpuFlavorIds) => ({ computeType: "CPU", cpuFlavorIds }),
        v2: (ids) => cpu(toList(ids)[0] ?? "", 2),
        onCpu: true,
      },
      vcpuCount: {
        values: [2, 4, 32],
        v1: (vcpuCount) => ({ computeType: "CPU", vcpuCount }),
        v2: (count) => cpu("cpu3c", count),
        onCpu: true,
      },
      dataCenterIds: { values: [[], ["EU-RO-1"], ["EU-RO-1", "US-KS-2"]] },
      allowedCudaVersions: { values: [[], ["12.4"]], v2: (list) => gpu({ allowedCudaVersions: list }) },
      minCudaVersion: { values: ["", "12.4"], v2: (version) => gpu({ minCudaVersion: version || null }) },
      networkVolumeId: { values: ["", "v1"], v2: (id) => ({ networkVolumes: id === "" ? [] : [id] }) },
      networkVolumeIds: { values: [[], ["v1", "v2"]], v2: (ids) => ({ networkVolumes: ids }) },
      idleTimeout: { values: [1, 5, 60, 3600], v2: (idleTimeout) => workers({ idleTimeout }) },
      executionTimeoutMs: { values: [600_000, 5000, 300_000], v2: (timeout) => ({ timeout }) },
      flashboot: { values: [false, true], v2: (on) => ({ flashboot: on === true ? "FLASHBOOT" : "OFF" }) },
      flashbootType: {
        values: ["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"],
        v2: (flashboot) => ({ flashboot }),
      },
      scalerType: {
        values: ["QUEUE_DELAY", "REQUEST_COUNT"],
        v2: (type) => (type === "REQUEST_COUNT" ? scaling.REQUEST_COUNT : scaling.QUEUE_DELAY),
      },
      scalerValue: { values: [4, 1, 60], v2: (queueDelay) => ({ scaling: { type: "QUEUE_DELAY", queueDelay } }) },
      workersMin: { values: [0, 1, 3], v2: (min) => workers({ min }) },
      workersMax: { values: [3, 0, 7], v2: (max) => workers({ max }) },
      type: { values: ["QUEUE", "LOAD_BALANCER"] },
    },
    plainEndpointFields,
  ),
  ...rowsOf("NetworkVolume", { type: { values: ["STANDARD", "HIGH_PERFORMANCE"] } }),
  ...rowsOf("Secret", { description: { values: ["", "of the model hub"] } }),
];

/** Properties that no response contains. */
const unreportedProperties = ["name", "adoptExisting", "verify", "replaceOnChange"];
const optional = (dialect: Dialect): string[] =>
  Object.values(kinds).flatMap(({ kind, inputs }) =>
    Object.entries(inputs.shape).flatMap(([key, schema]) => {
      const { dialect: requiredDialect = dialect } = traitsOf(schema);
      const isRow = propertyOf(schema).optional && !unreportedProperties.includes(key) && requiredDialect === dialect;
      return isRow && kind !== "JobInvoke" ? [`${kind} ${key}`] : [];
    }),
  );

/** Fields for a property's value in a dialect; undefined if the dialect does not return it. */
function responseFields({ kind, property, ...row }: Row, dialect: Dialect): ((value: Value) => object) | undefined {
  const schema = kinds[kind].inputs.shape[property];
  const { dialect: requiredDialect = dialect } = schema ? traitsOf(schema) : {};
  const fields = row[dialect];
  if (requiredDialect !== dialect || fields === null) return undefined;
  return fields ?? ((value) => ({ [property]: value }));
}

describe.each<Dialect>(["v1", "v2"])("with REST %s", (dialect) => {
  /** Returns the state and inputs of a program, and a function with the differences after a refresh that reads `fields`. */
  async function deployed(kind: ObjectKind, news: Properties) {
    const lifecycle = kinds[kind];
    const { inputs, failures } = lifecycle.check({}, news, naming(), [], dialect);
    expect(failures).toEqual([]);
    const refreshed = async (olds: Properties, fields: object) => {
      const record = { ...records[dialect][kind], ...fields };
      const clients = await clientsReturning(dialect, kind, record);
      const readResult = await lifecycle.read(record.id, olds, bench.context({ clients }, dialect));
      return readResult?.outputs ?? {};
    };
    const changes = (olds: Properties) => lifecycle.diff(olds, inputs, dialect).map(({ path: [key] }) => key);
    const first = news["computeType"] === "CPU" ? { computeType: "CPU", ...cpu("cpu3c", 2) } : {};
    return { changes, refreshed, state: await refreshed({ ...inputs, version: 1 }, first) };
  }

  const reportedRows = rows.flatMap((row) => {
    const fields = responseFields(row, dialect);
    return fields ? [{ ...row, fields }] : [];
  });
  const newsOf = ({ kind, onCpu }: Row): Properties => ({
    ...required[kind],
    ...(onCpu ? { computeType: "CPU" } : {}),
  });

  test("the table contains every optional property", () => {
    const optionalRows = rows.filter(({ kind, property }) => optional(dialect).includes(`${kind} ${property}`));
    expect(optionalRows.map(({ kind, property }) => `${kind} ${property}`).sort()).toEqual(optional(dialect).sort());
  });

  test.each(reportedRows)(
    "$kind: $property accepts every value if omitted",
    async ({ kind, values, fields, ...row }) => {
      const { changes, refreshed, state } = await deployed(kind, newsOf({ kind, values, ...row }));
      for (const value of values) {
        const after = await refreshed(state, fields(value));
        expect(after).toEqual(state);
        expect(changes(after)).toEqual([]);
      }
    },
  );

  // The contract of REST v2 does not require these fields.
  const containerFields = ["image", "args", "entrypoint", "cmd", "disk", "env", "ports", "registry"];
  test("ServerlessEndpoint: a record without the container fields of REST v2 is no drift", async () => {
    const { changes, refreshed, state } = await deployed("ServerlessEndpoint", required.ServerlessEndpoint);
    const after = await refreshed(state, Object.fromEntries(containerFields.map((field) => [field, undefined])));
    expect(after).toEqual(state);
    expect(changes(after)).toEqual([]);
  });

  const withDefault = reportedRows.flatMap((row) => {
    const schema = kinds[row.kind].inputs.shape[row.property];
    const defaultValue = schema && propertyOf(schema).defaultValue;
    // In REST v2 an empty list of GPU types accepts any type, even if the program sets it.
    const acceptsAny = dialect === "v2" && row.property === "gpuTypeIds";
    return defaultValue === undefined || acceptsAny ? [] : [{ ...row, defaultValue }];
  });
  test.each(withDefault)(
    "$kind: $property set to its default detects drift from it",
    async ({ defaultValue, ...row }) => {
      const { changes, refreshed, state } = await deployed(row.kind, { ...newsOf(row), [row.property]: defaultValue });
      const after = await refreshed(state, row.fields(row.values.at(-1) ?? ""));
      expect(changes(after)).toEqual([row.property]);
    },
  );
});
