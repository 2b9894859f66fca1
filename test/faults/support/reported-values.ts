import type { Dialect } from "serverless-compute-api";
import { type Fields, optionsOf, plainEndpointFields, templateFields } from "serverless-compute-api/shapes";
import type { Properties, Value } from "../../../provider/engine/values";
import { kinds } from "../../../provider/resources";
import { plainProperties } from "../../support/sample-values";
import type { ObjectKind } from "./kinds";
import { records } from "./record-server";

/** Required properties of each kind. */
export const required: Record<ObjectKind, Properties> = {
  Template: { name: "chat-dev", imageName: "acme/echo:1" },
  ServerlessEndpoint: { name: "chat-dev", templateId: "t1" },
  NetworkVolume: { name: "chat-dev", size: 10, dataCenterId: "EU-RO-1" },
  Secret: { name: "chat-dev", value: "value-of-the-test" },
  ContainerRegistryAuth: { name: "chat-dev", username: "someone", password: "password-of-the-test" },
};

/** An optional property, with possible values of the service; the last is not the default. */
export interface Row {
  kind: ObjectKind;
  property: string;
  values: readonly Value[];
  /** Fields of a record for a value; the property itself by default, null if the dialect does not return it. */
  v1?: ((value: Value) => object) | null;
  v2?: ((value: Value) => object) | null;
  /** Inputs that it requires, and their fields in a record. */
  related?: { inputs: Properties; v1: object; v2: object };
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
/** The only GPU type of each pool of the record server's catalog. */
const typeOfPool: Readonly<Record<string, string>> = {
  ADA_24: "NVIDIA L4",
  AMPERE_48: "NVIDIA A40",
  AMPERE_80: "NVIDIA A100 80GB PCIe",
};
const booleans = { values: [true, false] };
const onCpu = { inputs: { computeType: "CPU" }, v1: { computeType: "CPU" }, v2: cpu("cpu3c", 2) };
const ofPods = { inputs: { isServerless: false }, v1: { isServerless: false }, v2: { serverless: false } };
const withVolume = {
  inputs: { ...ofPods.inputs, volumeInGb: 20 },
  v1: { ...ofPods.v1, volumeInGb: 20 },
  v2: { ...ofPods.v2, ...mount(20, "/workspace") },
};
const ofImage = { inputs: { imageName: "acme/echo:1", templateId: null }, v1: {}, v2: { env: {} } };
const onRequests = { inputs: { scalerType: "REQUEST_COUNT" }, v1: {}, v2: scaling.REQUEST_COUNT };

/** A row for each optional property that a dialect returns. */
export const rows: Row[] = [
  ...rowsOf(
    "Template",
    {
      containerDiskInGb: { values: [50, 1, 20, 500], v2: (disk) => ({ disk }) },
      volumeInGb: { values: [0, 20, 4000], v2: (size) => mount(size, "/workspace"), related: ofPods },
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
      volumeMountPath: { values: ["/workspace", "/data"], v2: (path) => mount(20, path), related: withVolume },
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
      containerDiskInGb: { values: [50, 1, 20, 500], v2: (disk) => ({ disk }), related: ofImage },
      dockerArgs: { values: ["", "python main.py"], v2: (args) => ({ args }), related: ofImage },
      dockerEntrypoint: {
        values: [[], ["sh", "-c"]],
        v2: (entrypoint) => ({ entrypoint }),
        related: ofImage,
      },
      dockerStartCmd: { values: [[], ["python", "a b.py"]], v2: (cmd) => ({ cmd }), related: ofImage },
      env: { values: [{}, { MODEL: "mistral-7b" }], related: ofImage },
      ports: {
        values: ["", "80/http", "80/http,22/tcp"],
        v2: (ports) => ({ ports: String(ports).split(",") }),
        related: ofImage,
      },
      containerRegistryAuthId: {
        values: ["", "r1"],
        v2: (registry) => ({ registry: registry || null }),
        related: ofImage,
      },
      computeType: { values: ["GPU", "CPU"], v2: (type) => (type === "CPU" ? cpu("cpu3c", 2) : {}) },
      gpuTypeIds: {
        values: [[], ["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"], ["NVIDIA A40"]],
        v2: (types) =>
          gpu({
            pools: toList(types).map((type) => ({ "NVIDIA L4": "ADA_24", "NVIDIA A40": "AMPERE_48" })[String(type)]),
          }),
      },
      gpuPools: {
        values: [["ADA_24", "AMPERE_48"], ["AMPERE_80"]],
        v1: (pools) => ({ gpuTypeIds: toList(pools).map((pool) => typeOfPool[String(pool)]) }),
        v2: (pools) => gpu({ pools }),
      },
      excludedGpuTypeIds: {
        values: [[], ["NVIDIA A40"]],
        v1: (excluded) => ({
          gpuTypeIds: Object.values(typeOfPool).filter((type) => !toList(excluded).includes(type)),
        }),
        v2: (excludedTypes) => gpu({ pools: ["ADA_24", "AMPERE_48", "AMPERE_80"], excludedTypes }),
      },
      gpuCount: { values: [1, 2, 8], v2: (count) => gpu({ count }) },
      cpuFlavorIds: {
        values: [["cpu3c"], ["cpu5g"]],
        v1: (cpuFlavorIds) => ({ computeType: "CPU", cpuFlavorIds }),
        v2: (ids) => cpu(toList(ids)[0] ?? "", 2),
        related: onCpu,
      },
      vcpuCount: {
        values: [2, 4, 32],
        v1: (vcpuCount) => ({ computeType: "CPU", vcpuCount }),
        v2: (count) => cpu("cpu3c", count),
        related: onCpu,
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
      type: { values: ["QUEUE", "LOAD_BALANCER"], related: onRequests },
    },
    plainEndpointFields,
  ),
  ...rowsOf("NetworkVolume", { type: { values: ["STANDARD", "HIGH_PERFORMANCE"] } }),
  ...rowsOf("Secret", { description: { values: ["", "of the model hub"] } }),
];

/** A row whose property the dialect returns, for a program that requires `program`. */
export interface ReportedRow extends Row {
  /** Fields of a record for a value. */
  fields(value: Value): object;
  /** Inputs of a program that leaves the property out. */
  program: Properties;
  /** Record of the program's object. */
  record: { id: string; [field: string]: unknown };
}

/** The rows whose property the dialect returns. */
export const reportedRows = (dialect: Dialect): ReportedRow[] =>
  rows.flatMap((row) => {
    const { kind, property, related } = row;
    const schema = kinds[kind].inputs.shape[property];
    const { dialect: requiredDialect = dialect } = schema ? optionsOf(schema) : {};
    const fields = row[dialect];
    if (requiredDialect !== dialect || fields === null) return [];
    return {
      ...row,
      fields: fields ?? ((value) => ({ [property]: value })),
      program: { ...required[kind], ...related?.inputs },
      record: { ...records[dialect][kind], ...related?.[dialect] },
    };
  });
