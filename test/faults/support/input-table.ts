import type { Properties, Value } from "../../../provider/lifecycle/contract";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { stringAt } from "../../support/raw-http";
import type { ObjectKind } from "./kinds";

/** One input of a kind: two values for it, and what the service tells by raw HTTP. */
export interface InputCase {
  kind: ObjectKind;
  input: string;
  values: [Value, Value];
  /** What a change of it is. */
  change: "update" | "replace" | "nothing";
  /** Required inputs can be changed, not added or removed. */
  required?: true;
  /** What the service tells once the input is taken away: its default, of a name the one it has; undefined for nothing. */
  absent?: Value | undefined;
  /** Where and in which form the service tells it; by default under the same name, the same value. */
  told?: { as: string; form(value: Value): Value | undefined };
  /** Not told by the service: the request that writes it is looked for instead. */
  written?: RegExp;
  /** Inputs that have to go with it. */
  along?: Properties;
}

/** Ways to change an input: what it was and what it becomes; undefined is absent. */
export function inputSteps(one: InputCase): [string, Properties, Properties][] {
  const [first, second] = one.values;
  const change: [string, Properties, Properties] = ["changed", { [one.input]: first }, { [one.input]: second }];
  if (one.required) return [change];
  return [["added", {}, { [one.input]: first }], change, ["removed", { [one.input]: second }, {}]];
}

/** Objects that inputs refer to, made by raw HTTP. */
interface References {
  templates: [string, string];
  volumes: [string, string];
  auths: [string, string];
}

async function references(bench: LifecycleBench): Promise<References> {
  const made = async (path: string, body: object): Promise<string> =>
    stringAt(await bench.rest("POST", path, body), "id");
  const template = (name: string) => made("/templates", { name, imageName: "a:1", isServerless: true });
  const volume = (name: string) => made("/networkvolumes", { name, size: 1, dataCenterId: "EU-RO-1" });
  const auth = (name: string) => made("/containerregistryauth", { name, username: "u", password: "p" });
  return {
    templates: [await template("ref-a"), await template("ref-b")],
    volumes: [await volume("ref-a"), await volume("ref-b")],
    auths: [await auth("ref-a"), await auth("ref-b")],
  };
}

type Row = [input: string, values: [Value, Value], more?: Partial<InputCase>];

const rowsOf = (kind: ObjectKind, rows: Row[]): InputCase[] =>
  rows.map(([input, values, more]) => ({ kind, input, values, change: "update", ...more }));

const nothing = { change: "nothing", told: { as: "id", form: () => undefined } } as const;
const replaces = { change: "replace" } as const;
const required = { required: true } as const;
const list = (value: Value): Value => (typeof value === "string" ? value.split(",").map((one) => one.trim()) : []);

/** Every input of every kind that makes an object, and for each kind the inputs to start from. */
export async function inputTable(
  bench: LifecycleBench,
): Promise<{ cases: InputCase[]; bases: Record<ObjectKind, Properties> }> {
  const { templates, volumes, auths } = await references(bench);
  const cases = [
    ...rowsOf("Template", [
      ["name", ["in-a", "in-b"], { absent: "in-b" }],
      ["imageName", ["a:1", "b:2"], required],
      ["containerDiskInGb", [5, 6], { absent: 50 }],
      ["volumeInGb", [7, 8], { absent: 0, along: { isServerless: false } }],
      ["dockerArgs", ["--a", "--b 2"], { absent: "" }],
      ["env", [{ A: "1" }, { A: "2", B: "3" }], { absent: {} }],
      ["ports", ["80/http", "80/http, 22/tcp"], { absent: [], told: { as: "ports", form: list } }],
      ["readme", ["one", "two"], { absent: "" }],
      ["volumeMountPath", ["/a", "/b"], { absent: "/workspace" }],
      ["isServerless", [false, true], { ...replaces, absent: true }],
      ["containerRegistryAuthId", auths],
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("ServerlessEndpoint", [
      ["name", ["in-a", "in-b"], { absent: "in-b" }],
      ["templateId", templates, required],
      ["computeType", ["CPU", "GPU"], { ...replaces, absent: "GPU" }],
      ["gpuTypeIds", [["NVIDIA L4"], ["NVIDIA A40", "NVIDIA L4"]], { absent: [] }],
      ["gpuCount", [2, 3], { absent: 1 }],
      ["cpuFlavorIds", [["cpu3c"], ["cpu5c", "cpu3c"]], { absent: [] }],
      ["vcpuCount", [4, 8], { absent: 2 }],
      ["dataCenterIds", [["EU-RO-1"], ["EU-RO-1", "US-KS-2"]], { absent: [] }],
      ["allowedCudaVersions", [["12.4"], ["12.4", "12.5"]], { absent: [] }],
      ["minCudaVersion", ["12.1", "12.4"]],
      ["networkVolumeId", volumes],
      ["networkVolumeIds", [[volumes[0]], [...volumes]], { absent: [] }],
      ["idleTimeout", [10, 20], { absent: 5 }],
      ["executionTimeoutMs", [60_000, 90_000]],
      ["flashboot", [true, false], { absent: false }],
      ["scalerType", ["REQUEST_COUNT", "QUEUE_DELAY"], { absent: "QUEUE_DELAY" }],
      ["scalerValue", [2, 9], { absent: 4 }],
      ["workersMin", [1, 2], { absent: 0 }],
      ["workersMax", [5, 7], { absent: 3 }],
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("NetworkVolume", [
      ["name", ["in-a", "in-b"], { absent: "in-b" }],
      ["size", [10, 20], required],
      ["dataCenterId", ["EU-RO-1", "US-KS-2"], { ...replaces, ...required }],
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("Secret", [
      ["name", ["in-a", "in-b"], { ...replaces, absent: "in-b" }],
      ["value", ["first-value", "second-value"], { ...required, written: /secretValueUpdate/ }],
      ["description", ["one", "two"], { absent: "" }],
      ["adoptExisting", [true, false], nothing],
    ]),
    ...rowsOf("ContainerRegistryAuth", [
      ["name", ["in-a", "in-b"], { ...replaces, absent: "in-b" }],
      ["username", ["ann", "bob"], { ...required, written: /updateRegistryAuth/ }],
      ["password", ["first-password", "second-password"], { ...required, written: /updateRegistryAuth/ }],
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
