import type { Dialect } from "serverless-compute-api";
import { gpuPools, gpuTypes } from "serverless-compute-api/catalog";
import { type Fields, plainEndpointFields, templateFields } from "serverless-compute-api/shapes";
import type { Properties, Value } from "../../../provider/engine/values";
import { instanceId } from "../../../service/resources/catalog";
import { dialect } from "../../support/dialect";
import type { CollectionName, LifecycleBench } from "../../support/lifecycle-bench";
import { plainProperties } from "../../support/sample-values";
import type { ObjectKind } from "./kinds";

/** Lists of the service with the objects of each kind. */
export const collections: Record<ObjectKind, CollectionName> = {
  Template: "templates",
  ServerlessEndpoint: "endpoints",
  NetworkVolume: "networkvolumes",
  Secret: "secrets",
  ContainerRegistryAuth: "containerregistryauth",
};

/** One input of a kind, with two values and its form in raw HTTP responses. */
export interface InputCase {
  kind: ObjectKind;
  input: string;
  values: [Value, Value];
  /** Effect of a changed value. */
  change: "update" | "replace" | "nothing";
  /** True if the object keeps the value when the program removes it. */
  computedWhenUnset?: true;
  /** True for a required input, which can be changed but not added or removed. */
  required?: true;
  /** Value in responses after the input is removed: its default, or the current value for a name. `undefined` means no field. */
  absentValue?: Value | undefined;
  /** Name and form in responses; by default the same as in the program. */
  inResponse?: { name: string; convert(value: Value): Value | undefined };
  /** Values that are equivalent to absence. */
  equivalent?: Value[];
  /** True for an input that no response contains; the request that writes it is checked instead. */
  requestPattern?: RegExp;
  /** Additional inputs that it requires. */
  relatedInputs?: Properties;
}

/** Changes of an input from one value to another; undefined is absent. */
export function inputSteps(inputCase: InputCase): [string, Properties, Properties][] {
  const [first, second] = inputCase.values;
  const change: [string, Properties, Properties] = [
    "changed",
    { [inputCase.input]: first },
    { [inputCase.input]: second },
  ];
  if (inputCase.required) return [change];
  return [["added", {}, { [inputCase.input]: first }], change, ["removed", { [inputCase.input]: second }, {}]];
}

/** Objects referenced by inputs, created by raw HTTP. */
interface References {
  templates: [string, string];
  volumes: [string, string];
  auths: [string, string];
}

async function createReferences(bench: LifecycleBench): Promise<References> {
  // REST v2 returns an endpoint's settings, not its template: so equal templates are indistinguishable.
  const template = (name: string) => bench.create("/templates", { name, imageName: `${name}:1`, isServerless: true });
  const volume = (name: string) => bench.create("/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" });
  const auth = (name: string) => bench.create("/containerregistryauth", { name, username: "u", password: "p" });
  return {
    templates: [await template("ref-a"), await template("ref-b")],
    volumes: [await volume("ref-a"), await volume("ref-b")],
    auths: [await auth("ref-a"), await auth("ref-b")],
  };
}

type Row = [input: string, values: [Value, Value], more?: Partial<InputCase>];

/** Cases of a kind's inputs: explicit rows, and a row for each other plain property of its `fields`. */
function rowsOf(kind: ObjectKind, rows: Row[], fields: Fields = {}): InputCase[] {
  const explicitInputs = rows.map(([input]) => input);
  const plainRows = plainProperties(fields, explicitInputs).map(
    ({ name, values, empty, computedWhenUnset }): Row => [
      name,
      values,
      computedWhenUnset ? { computedWhenUnset } : { absentValue: empty },
    ],
  );
  return [...rows, ...plainRows].map(([input, values, more]) => ({ kind, input, values, change: "update", ...more }));
}

const noChange = { change: "nothing", inResponse: { name: "id", convert: () => undefined } } as const;
const replaces = { change: "replace" } as const;
const required = { required: true } as const;
const list = (value: Value): Value => (typeof value === "string" ? value.split(",").map((item) => item.trim()) : []);

/** A row of one dialect only. */
const onlyIn = (onlyDialect: Dialect, row: Row): Row[] => (onlyDialect === dialect ? [row] : []);
const onCpu = { computeType: "CPU" };
const instancesOfFlavors = (flavors: Value): Value =>
  Array.isArray(flavors) ? flavors.map((flavor) => instanceId(String(flavor), 2)) : [];
const instancesOfSize = (vcpuCount: Value): Value => [instanceId("cpu3c", Number(vcpuCount))];
const omitSingle = (value: Value): Value =>
  dialect === "v2" && Array.isArray(value) && value.length === 1 ? [] : value;
const pooledTypes = gpuTypes.flatMap(({ id, pool }) => (pool === undefined ? [] : [id]));
/** Default GPU types of the service, because REST v2 requires pools. */
const anyType = dialect === "v1" ? [] : pooledTypes;
const allExcept = (excluded: Value): Value =>
  pooledTypes.filter((type) => !(Array.isArray(excluded) && excluded.includes(type)));
const typesOfPools = (pools: Value): Value =>
  Array.isArray(pools) ? pools.flatMap((pool) => [...(gpuPools[String(pool)] ?? [])]) : [];
const queueType = (type: Value): Value => (type === "QUEUE" ? "QB" : "LB");
/** REST v2 cannot change stored credentials. */
const credentials: Partial<InputCase> =
  dialect === "v1"
    ? { requestPattern: /updateRegistryAuth/ }
    : { ...replaces, inResponse: { name: "password", convert: () => undefined } };

/** The container of an endpoint without a template; the records that the table reads contain no container. */
const ownContainer = (requestPattern: RegExp): Partial<InputCase> => ({
  requestPattern,
  relatedInputs: { imageName: "own:1", templateId: null },
  ...(requestPattern.source.includes("image") ? required : {}),
});

/** Every input of every kind that creates an object, and the initial inputs of each kind. */
export async function inputTable(
  bench: LifecycleBench,
): Promise<{ cases: InputCase[]; bases: Record<ObjectKind, Properties> }> {
  const { templates, volumes, auths } = await createReferences(bench);
  const cases = [
    ...rowsOf(
      "Template",
      [
        ["name", ["in-a", "in-b"], { absentValue: "in-b" }],
        ["imageName", ["a:1", "b:2"], required],
        ["containerDiskInGb", [5, 6], { absentValue: 50 }],
        ["volumeInGb", [17, 18], { absentValue: 0, computedWhenUnset: true, relatedInputs: { isServerless: false } }],
        ["dockerArgs", ["--a", "--b 2"], { absentValue: "" }],
        ["env", [{ A: "1" }, { A: "2", B: "3" }], { absentValue: {} }],
        ["ports", ["80/http", "80/http, 22/tcp"], { absentValue: [], inResponse: { name: "ports", convert: list } }],
        ...onlyIn("v1", ["readme", ["one", "two"], { absentValue: "" }]),
        [
          "volumeMountPath",
          ["/a", "/b"],
          { absentValue: "/workspace", relatedInputs: { isServerless: false, volumeInGb: 20 } },
        ],
        ["dockerEntrypoint", [["sh", "-c"], ["sh"]], { absentValue: [] }],
        ["dockerStartCmd", [["python", "a b.py"], ["python"]], { absentValue: [] }],
        ["startSsh", [false, true], { computedWhenUnset: true }],
        ["startJupyter", [false, true], { computedWhenUnset: true }],
        ["isPublic", [true, false], { computedWhenUnset: true }],
        ["category", ["AMD", "CPU"], { computedWhenUnset: true }],
        ...onlyIn("v2", ["allowedCudaVersions", [["12.4"], ["12.4", "12.5"]], { absentValue: [] }]),
        ["isServerless", [false, true], { ...replaces, absentValue: true }],
        ["containerRegistryAuthId", auths],
        // It has no effect on its own: the template is unchanged.
        [
          "replaceOnChange",
          [true, false],
          { absentValue: "a:1", inResponse: { name: "imageName", convert: () => "a:1" } },
        ],
        ["adoptExisting", [true, false], noChange],
      ],
      templateFields,
    ),
    ...rowsOf(
      "ServerlessEndpoint",
      [
        ["name", ["in-a", "in-b"], { absentValue: "in-b" }],
        [
          "templateId",
          templates,
          { ...required, ...(dialect === "v2" ? { requestPattern: /"SERVERLESS_COMPUTE_TEMPLATE_ID"/ } : {}) },
        ],
        ...onlyIn("v2", ["imageName", ["own:1", "own:2"], ownContainer(/"image":/)]),
        ...onlyIn("v2", ["containerDiskInGb", [5, 6], ownContainer(/"disk":/)]),
        ...onlyIn("v2", ["dockerArgs", ["--a", "--b 2"], ownContainer(/"args":/)]),
        ...onlyIn("v2", ["dockerEntrypoint", [["sh", "-c"], ["sh"]], ownContainer(/"args":/)]),
        ...onlyIn("v2", ["dockerStartCmd", [["python", "a b.py"], ["python"]], ownContainer(/"args":/)]),
        ...onlyIn("v2", ["env", [{ A: "1" }, { A: "2", B: "3" }], ownContainer(/"env":/)]),
        ...onlyIn("v2", ["ports", ["80/http", "80/http, 22/tcp"], ownContainer(/"ports":/)]),
        ...onlyIn("v2", ["containerRegistryAuthId", auths, ownContainer(/"registry":/)]),
        ["computeType", ["CPU", "GPU"], { ...replaces, absentValue: "GPU" }],
        ["gpuTypeIds", [["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"]], { absentValue: anyType }],
        ["gpuCount", [2, 3], { absentValue: 1 }],
        [
          "cpuFlavorIds",
          [["cpu3g"], ["cpu5c", "cpu3c"]],
          {
            absentValue: ["cpu3c-2-4"],
            relatedInputs: onCpu,
            inResponse: { name: "instanceIds", convert: instancesOfFlavors },
          },
        ],
        [
          "vcpuCount",
          [4, 8],
          {
            absentValue: ["cpu3c-2-4"],
            relatedInputs: onCpu,
            inResponse: { name: "instanceIds", convert: instancesOfSize },
          },
        ],
        ["dataCenterIds", [["EU-RO-1"], ["EU-RO-1", "US-KS-2"]], { absentValue: [] }],
        ["allowedCudaVersions", [["12.4"], ["12.4", "12.5"]], { absentValue: [] }],
        ["minCudaVersion", ["12.1", "12.4"], { absentValue: dialect === "v1" ? "11.8" : undefined }],
        ["networkVolumeId", volumes],
        // If REST v2 sets a single volume, the service returns it under the other name.
        [
          "networkVolumeIds",
          [[volumes[0]], [...volumes]],
          { absentValue: [], inResponse: { name: "networkVolumeIds", convert: omitSingle } },
        ],
        ["idleTimeout", [10, 20], { absentValue: 5 }],
        ["executionTimeoutMs", [60_000, 90_000], { absentValue: 600_000 }],
        ["flashboot", [true, false], { absentValue: false }],
        ["scalerType", ["REQUEST_COUNT", "QUEUE_DELAY"], { absentValue: "QUEUE_DELAY" }],
        ["scalerValue", [2, 9], { absentValue: 4 }],
        ["workersMin", [1, 2], { absentValue: 0 }],
        ["workersMax", [5, 7], { absentValue: 3 }],
        ...onlyIn("v2", [
          "type",
          ["LOAD_BALANCER", "QUEUE"],
          {
            ...replaces,
            inResponse: { name: "type", convert: queueType },
            absentValue: "QB",
            equivalent: ["QUEUE"],
            relatedInputs: { scalerType: "REQUEST_COUNT" },
          },
        ]),
        [
          "gpuPools",
          [["AMPERE_24"], ["ADA_24", "AMPERE_24"]],
          { absentValue: anyType, inResponse: { name: "gpuTypeIds", convert: typesOfPools } },
        ],
        [
          "excludedGpuTypeIds",
          [["NVIDIA L4"], ["NVIDIA L4", "NVIDIA A40"]],
          { absentValue: anyType, inResponse: { name: "gpuTypeIds", convert: allExcept } },
        ],
        ...onlyIn("v2", [
          "flashbootType",
          ["PRIORITY_FLASHBOOT", "FLASHBOOT"],
          {
            absentValue: "OFF",
            inResponse: { name: "flashBootType", convert: (type) => type },
          },
        ]),
        ["adoptExisting", [true, false], noChange],
      ],
      plainEndpointFields,
    ),
    ...rowsOf("NetworkVolume", [
      ["name", ["in-a", "in-b"], { absentValue: "in-b" }],
      ["size", [10, 20], required],
      [
        "dataCenterId",
        ["EU-RO-1", "US-KS-2"],
        { ...replaces, ...required, inResponse: { name: "dataCenter", convert: (id) => id } },
      ],
      ...onlyIn("v2", [
        "type",
        ["HIGH_PERFORMANCE", "STANDARD"],
        { ...replaces, computedWhenUnset: true, absentValue: "STANDARD" },
      ]),
      ["adoptExisting", [true, false], noChange],
    ]),
    ...rowsOf("Secret", [
      ["name", ["in-a", "in-b"], { ...replaces, absentValue: "in-b" }],
      [
        "value",
        ["first-value", "second-value"],
        { ...required, requestPattern: dialect === "v1" ? /secretValueUpdate/ : /"value"/ },
      ],
      ["description", ["one", "two"], { absentValue: dialect === "v1" ? "" : null }],
      ["adoptExisting", [true, false], noChange],
    ]),
    ...rowsOf("ContainerRegistryAuth", [
      ["name", ["in-a", "in-b"], { ...replaces, absentValue: "in-b" }],
      ["username", ["ann", "bob"], { ...required, ...credentials }],
      ["password", ["first-password", "second-password"], { ...required, ...credentials }],
      ["adoptExisting", [true, false], noChange],
    ]),
  ];
  const bases: Record<ObjectKind, Properties> = {
    Template: { imageName: "a:1" },
    ServerlessEndpoint: { templateId: templates[0] },
    NetworkVolume: { size: 10, dataCenterId: "EU-RO-1" },
    Secret: { value: "first-value" },
    ContainerRegistryAuth: { username: "ann", password: "first-password" },
  };
  return { cases, bases };
}
