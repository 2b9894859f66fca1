import type { Dialect } from "serverless-compute-api";
import { gpuTypes } from "serverless-compute-api/catalog";
import { type Fields, plainEndpointFields, templateFields } from "serverless-compute-api/shapes";
import type { Properties, Value } from "../../../provider/lifecycle/contract";
import { instanceId } from "../../../service/resources/catalog";
import { dialect } from "../../support/dialect";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { stringAt } from "../../support/raw-http";
import { plainProperties } from "../../support/sample-values";
import type { ObjectKind } from "./kinds";

/** One input of a kind, with two values and its form in raw HTTP responses. */
export interface InputCase {
  kind: ObjectKind;
  input: string;
  values: [Value, Value];
  /** Effect of a changed value. */
  change: "update" | "replace" | "nothing";
  /** The object keeps the value when the program removes it. */
  kept?: true;
  /** Required inputs can be changed, not added or removed. */
  required?: true;
  /** Value in responses after the input is removed: its default, or the current one for a name. `undefined` means no field. */
  absent?: Value | undefined;
  /** Name and form in responses; by default the same as in the program. */
  told?: { as: string; form(value: Value): Value | undefined };
  /** Values that mean the same as absence. */
  same?: Value[];
  /** Not in responses: the request that writes it is checked instead. */
  written?: RegExp;
  /** Inputs that have to go with it. */
  along?: Properties;
}

/** Changes of an input from one value to another; undefined is absent. */
export function inputSteps(one: InputCase): [string, Properties, Properties][] {
  const [first, second] = one.values;
  const change: [string, Properties, Properties] = ["changed", { [one.input]: first }, { [one.input]: second }];
  if (one.required) return [change];
  return [["added", {}, { [one.input]: first }], change, ["removed", { [one.input]: second }, {}]];
}

/** Objects referenced by inputs, created by raw HTTP. */
interface References {
  templates: [string, string];
  volumes: [string, string];
  auths: [string, string];
}

async function references(bench: LifecycleBench): Promise<References> {
  const made = async (path: string, body: object): Promise<string> =>
    stringAt(await bench.rest("POST", path, body), "id");
  // REST v2 returns an endpoint's settings, not its template: equal templates are indistinguishable.
  const template = (name: string) => made("/templates", { name, imageName: `${name}:1`, isServerless: true });
  const volume = (name: string) => made("/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" });
  const auth = (name: string) => made("/containerregistryauth", { name, username: "u", password: "p" });
  return {
    templates: [await template("ref-a"), await template("ref-b")],
    volumes: [await volume("ref-a"), await volume("ref-b")],
    auths: [await auth("ref-a"), await auth("ref-b")],
  };
}

type Row = [input: string, values: [Value, Value], more?: Partial<InputCase>];

/** Cases of a kind's inputs: explicit rows, and one for each other plain property of its `fields`. */
function rowsOf(kind: ObjectKind, rows: Row[], fields: Fields = {}): InputCase[] {
  const special = rows.map(([input]) => input);
  const plain = plainProperties(fields, special).map(
    ({ name, values, empty, keptWhenRemoved: kept }): Row => [name, values, kept ? { kept } : { absent: empty }],
  );
  return [...rows, ...plain].map(([input, values, more]) => ({ kind, input, values, change: "update", ...more }));
}

const nothing = { change: "nothing", told: { as: "id", form: () => undefined } } as const;
const replaces = { change: "replace" } as const;
const required = { required: true } as const;
const list = (value: Value): Value => (typeof value === "string" ? value.split(",").map((one) => one.trim()) : []);

/** A row of one dialect only. */
const only = (one: Dialect, row: Row): Row[] => (one === dialect ? [row] : []);
const onCpu = { computeType: "CPU" };
const instancesOfFlavors = (flavors: Value): Value =>
  Array.isArray(flavors) ? flavors.map((flavor) => instanceId(String(flavor), 2)) : [];
const instancesOfSize = (vcpuCount: Value): Value => [instanceId("cpu3c", Number(vcpuCount))];
const several = (value: Value): Value => (dialect === "v2" && Array.isArray(value) && value.length === 1 ? [] : value);
const pooled = gpuTypes.flatMap(({ id, pool }) => (pool === undefined ? [] : [id]));
/** Default GPU types of the service: REST v2 must name pools. */
const anyType = dialect === "v1" ? [] : pooled;
const anyBut = (excluded: Value): Value =>
  pooled.filter((type) => !(Array.isArray(excluded) && excluded.includes(type)));
const queueType = (type: Value): Value => (type === "QUEUE" ? "QB" : "LB");
/** REST v2 has no change of saved credentials. */
const credentials: Partial<InputCase> =
  dialect === "v1"
    ? { written: /updateRegistryAuth/ }
    : { ...replaces, told: { as: "password", form: () => undefined } };

/** Every input of every kind that makes an object, and for each kind the inputs to start from. */
export async function inputTable(
  bench: LifecycleBench,
): Promise<{ cases: InputCase[]; bases: Record<ObjectKind, Properties> }> {
  const { templates, volumes, auths } = await references(bench);
  const cases = [
    ...rowsOf(
      "Template",
      [
        ["name", ["in-a", "in-b"], { absent: "in-b" }],
        ["imageName", ["a:1", "b:2"], required],
        ["containerDiskInGb", [5, 6], { absent: 50 }],
        ["volumeInGb", [17, 18], { absent: 0, kept: true, along: { isServerless: false } }],
        ["dockerArgs", ["--a", "--b 2"], { absent: "" }],
        ["env", [{ A: "1" }, { A: "2", B: "3" }], { absent: {} }],
        ["ports", ["80/http", "80/http, 22/tcp"], { absent: [], told: { as: "ports", form: list } }],
        ...only("v1", ["readme", ["one", "two"], { absent: "" }]),
        ["volumeMountPath", ["/a", "/b"], { absent: "/workspace", along: { isServerless: false, volumeInGb: 20 } }],
        ["dockerEntrypoint", [["sh", "-c"], ["sh"]], { absent: [] }],
        ["dockerStartCmd", [["python", "a b.py"], ["python"]], { absent: [] }],
        ["startSsh", [false, true], { kept: true }],
        ["startJupyter", [false, true], { kept: true }],
        ["isPublic", [true, false], { kept: true }],
        ["category", ["AMD", "CPU"], { kept: true }],
        ...only("v2", ["allowedCudaVersions", [["12.4"], ["12.4", "12.5"]], { absent: [] }]),
        ["isServerless", [false, true], { ...replaces, absent: true }],
        ["containerRegistryAuthId", auths],
        // It has no effect by itself: the template stays unchanged.
        ["replaceOnChange", [true, false], { absent: "a:1", told: { as: "imageName", form: () => "a:1" } }],
        ["adoptExisting", [true, false], nothing],
      ],
      templateFields,
    ),
    ...rowsOf(
      "ServerlessEndpoint",
      [
        ["name", ["in-a", "in-b"], { absent: "in-b" }],
        [
          "templateId",
          templates,
          { ...required, ...(dialect === "v2" ? { written: /"SERVERLESS_COMPUTE_TEMPLATE_ID"/ } : {}) },
        ],
        ["computeType", ["CPU", "GPU"], { ...replaces, absent: "GPU" }],
        ["gpuTypeIds", [["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"]], { absent: anyType }],
        ["gpuCount", [2, 3], { absent: 1 }],
        [
          "cpuFlavorIds",
          [["cpu3g"], ["cpu5c", "cpu3c"]],
          { absent: ["cpu3c-2-4"], along: onCpu, told: { as: "instanceIds", form: instancesOfFlavors } },
        ],
        [
          "vcpuCount",
          [4, 8],
          { absent: ["cpu3c-2-4"], along: onCpu, told: { as: "instanceIds", form: instancesOfSize } },
        ],
        ["dataCenterIds", [["EU-RO-1"], ["EU-RO-1", "US-KS-2"]], { absent: [] }],
        ["allowedCudaVersions", [["12.4"], ["12.4", "12.5"]], { absent: [] }],
        ["minCudaVersion", ["12.1", "12.4"], { absent: dialect === "v1" ? "" : undefined }],
        ["networkVolumeId", volumes],
        // The service shows a single one by its other name, where REST v2 set it.
        [
          "networkVolumeIds",
          [[volumes[0]], [...volumes]],
          { absent: [], told: { as: "networkVolumeIds", form: several } },
        ],
        ["idleTimeout", [10, 20], { absent: 5 }],
        ["executionTimeoutMs", [60_000, 90_000], { absent: 600_000 }],
        ["flashboot", [true, false], { absent: false }],
        ["scalerType", ["REQUEST_COUNT", "QUEUE_DELAY"], { absent: "QUEUE_DELAY" }],
        ["scalerValue", [2, 9], { absent: 4 }],
        ["workersMin", [1, 2], { absent: 0 }],
        ["workersMax", [5, 7], { absent: 3 }],
        ...only("v2", [
          "type",
          ["LOAD_BALANCER", "QUEUE"],
          {
            ...replaces,
            told: { as: "type", form: queueType },
            absent: "QB",
            same: ["QUEUE"],
            along: { scalerType: "REQUEST_COUNT" },
          },
        ]),
        ...only("v2", [
          "excludedGpuTypeIds",
          [["NVIDIA L4"], ["NVIDIA L4", "NVIDIA A40"]],
          { absent: anyType, told: { as: "gpuTypeIds", form: anyBut } },
        ]),
        ...only("v2", [
          "flashbootType",
          ["PRIORITY_FLASHBOOT", "FLASHBOOT"],
          {
            absent: "OFF",
            told: { as: "flashBootType", form: (type) => type },
          },
        ]),
        ["adoptExisting", [true, false], nothing],
      ],
      plainEndpointFields,
    ),
    ...rowsOf("NetworkVolume", [
      ["name", ["in-a", "in-b"], { absent: "in-b" }],
      ["size", [10, 20], required],
      [
        "dataCenterId",
        ["EU-RO-1", "US-KS-2"],
        { ...replaces, ...required, told: { as: "dataCenter", form: (id) => id } },
      ],
      ...only("v2", ["type", ["HIGH_PERFORMANCE", "STANDARD"], { ...replaces, kept: true, absent: "STANDARD" }]),
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("Secret", [
      ["name", ["in-a", "in-b"], { ...replaces, absent: "in-b" }],
      [
        "value",
        ["first-value", "second-value"],
        { ...required, written: dialect === "v1" ? /secretValueUpdate/ : /"value"/ },
      ],
      ["description", ["one", "two"], { absent: dialect === "v1" ? "" : null }],
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("ContainerRegistryAuth", [
      ["name", ["in-a", "in-b"], { ...replaces, absent: "in-b" }],
      ["username", ["ann", "bob"], { ...required, ...credentials }],
      ["password", ["first-password", "second-password"], { ...required, ...credentials }],
      ["adoptExisting", [true, false], nothing],
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
