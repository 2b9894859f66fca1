import { describe, expect, test } from "vitest";
import { type Path, type Properties, Unknown } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { naming } from "../../../support/naming";

const failuresOf = (
  kind: keyof typeof kinds,
  news: Properties,
  dialect: "v1" | "v2",
  secrets: readonly Path[] = [],
): string[] =>
  kinds[kind]
    .check({}, news, naming("rules-dev"), secrets, dialect)
    .failures.map(({ path, reason }) => `${path}: ${reason}`);

/** Expects failures that contain no value if it is secret. */
function expectFailures(kind: keyof typeof kinds, news: Properties, dialect: "v1" | "v2", failures: string[]): void {
  expect(failuresOf(kind, news, dialect)).toEqual(failures);
  const hidden = failures.map((failure) => failure.replace(/: (?:is|contains) [^;]*; /, ": "));
  const keys = Object.keys(news);
  const elements = keys.map((key) => (Array.isArray(news[key]) ? [key, "0"] : [key]));
  for (const secrets of [keys.map((key) => [key]), elements])
    expect(failuresOf(kind, news, dialect, secrets)).toEqual(hidden);
}

/** Required inputs of each kind. */
const required: Partial<Record<keyof typeof kinds, Properties>> = {
  Template: { imageName: "a:1" },
  ServerlessEndpoint: { templateId: "t" },
  NetworkVolume: { dataCenterId: "EU-RO-1" },
};

describe("inputs that REST v2 rejects fail in the preview, only in dialect v2", () => {
  const onCpu = { computeType: "CPU" };
  const cuda = 'CUDA versions have the form major.minor with REST v2, such as "12.4"';
  const rows: [keyof typeof kinds, failure: string, Properties][] = [
    [
      "ServerlessEndpoint",
      "idleTimeout: is 30; does not apply to a queue with scalerType REQUEST_COUNT in REST v2; remove it",
      { scalerType: "REQUEST_COUNT", idleTimeout: 30 },
    ],
    ["ServerlessEndpoint", `minCudaVersion: contains "12"; ${cuda}`, { minCudaVersion: "12" }],
    [
      "ServerlessEndpoint",
      `allowedCudaVersions: contains "12.4.1"; ${cuda}`,
      { allowedCudaVersions: ["12.4", "12.4.1"] },
    ],
    [
      "ServerlessEndpoint",
      "minCudaVersion: cannot be combined with allowedCudaVersions in REST v2",
      { minCudaVersion: "12.1", allowedCudaVersions: ["12.4"] },
    ],
    [
      "ServerlessEndpoint",
      'cpuFlavorIds: contains "cpu3c" twice; remove one of them',
      { ...onCpu, cpuFlavorIds: ["cpu3c", "cpu3c"] },
    ],
    [
      "ServerlessEndpoint",
      "vcpuCount: is 3; must be a power of two, 2 or more, with REST v2",
      { ...onCpu, vcpuCount: 3 },
    ],
    [
      "ServerlessEndpoint",
      "vcpuCount: is 1; must be a power of two, 2 or more, with REST v2",
      { ...onCpu, vcpuCount: 1 },
    ],
    [
      "ServerlessEndpoint",
      "gpuTypeIds: requires computeType GPU with REST v2",
      { ...onCpu, gpuTypeIds: ["NVIDIA L4"] },
    ],
    ["ServerlessEndpoint", "cpuFlavorIds: requires computeType CPU with REST v2", { cpuFlavorIds: ["cpu3c"] }],
    ["Template", "containerDiskInGb: is 0; must be 1 or more with REST v2", { containerDiskInGb: 0 }],
    ["Template", "volumeInGb: is 5; must be 0, or 10 or more, with REST v2", { isServerless: false, volumeInGb: 5 }],
    [
      "ContainerRegistryAuth",
      "username: has 192 characters; must have 191 or fewer with REST v2",
      { username: "u".repeat(192), password: "p" },
    ],
    [
      "ContainerRegistryAuth",
      "password: has 16385 characters; must have 16384 or fewer with REST v2",
      { username: "u", password: "p".repeat(16_385) },
    ],
    [
      "Secret",
      "description: has 65536 bytes; must have 65535 bytes or fewer with REST v2",
      { value: "v", description: "\u00e9".repeat(32_768) },
    ],
    [
      "Secret",
      "value: has 16777216 bytes; must have 16777215 bytes or fewer with REST v2",
      { value: "v".repeat(16_777_216) },
    ],
    ["Secret", "name: must start with a letter or _ with REST v2", { value: "v", name: "1st" }],
    ["NetworkVolume", "size: is 5; must be from 10 to 4096 with REST v2", { size: 5 }],
  ];
  test.each(rows)("%s %s", (kind, failure, news) => {
    expectFailures(kind, { ...required[kind], ...news }, "v2", [failure]);
    expectFailures(kind, { ...required[kind], ...news }, "v1", []);
  });

  test("the name of a secret contains no / with REST v1", () => {
    const [named, failure] = [{ value: "v", name: "a/b" }, "name: must not contain / with REST v1"];
    expect([failuresOf("Secret", named, "v1"), failuresOf("Secret", named, "v2")]).toEqual([[failure], []]);
  });

  test.each([
    [["cpu3c", "cpu3c-2"], 'contains "cpu3c-2" twice; remove one of them'],
    [["cpu3c", "cpu5c-3"], 'contains "cpu5c-3"; its virtual CPUs must be a power of two, 2 or more'],
    [["cpu3c-4-8"], 'contains "cpu3c-4-8"; use a flavour and its virtual CPUs, such as "cpu5c-8"'],
  ])("virtual CPUs in cpuFlavorIds %j are rejected by REST v1", (cpuFlavorIds, reason) => {
    const endpoint = { templateId: "t", computeType: "CPU", cpuFlavorIds };
    const ofV1 = `contains ${JSON.stringify(cpuFlavorIds.at(-1))}; REST v1 has a single number of virtual CPUs for all flavours; set vcpuCount`;
    expectFailures("ServerlessEndpoint", endpoint, "v2", [`cpuFlavorIds: ${reason}`]);
    expectFailures("ServerlessEndpoint", endpoint, "v1", [`cpuFlavorIds: ${ofV1}`]);
  });

  test.each<[keyof typeof kinds, Properties]>([
    ["ContainerRegistryAuth", { username: Unknown.value, password: Unknown.value }],
    ["Secret", { value: Unknown.value, description: Unknown.value }],
    ["NetworkVolume", { size: Unknown.value, dataCenterId: Unknown.value }],
    ["Template", { imageName: Unknown.value, volumeInGb: Unknown.value, allowedCudaVersions: Unknown.value }],
    ["ServerlessEndpoint", { templateId: Unknown.value, idleTimeout: Unknown.value, minCudaVersion: Unknown.value }],
    ["ServerlessEndpoint", { templateId: "t", minCudaVersion: Unknown.value, allowedCudaVersions: ["12.4"] }],
    ["ServerlessEndpoint", { templateId: "t", computeType: "CPU", gpuTypeIds: Unknown.value }],
    ["ServerlessEndpoint", { templateId: "t", cpuFlavorIds: Unknown.value, vcpuCount: Unknown.value }],
  ])("unknown values of a %s pass", (kind, news) => expect(failuresOf(kind, news, "v2")).toEqual([]));

  test("scalerType defaults to the only criterion of a load balancer, and is unknown with the type", () => {
    const scalerTypeOf = (news: Properties) =>
      kinds.ServerlessEndpoint.check({}, { templateId: "t", ...news }, naming(), [], "v2").inputs["scalerType"];
    expect(failuresOf("ServerlessEndpoint", { templateId: "t", type: "LOAD_BALANCER" }, "v2")).toEqual([]);
    expect(scalerTypeOf({ type: "LOAD_BALANCER" })).toBe("REQUEST_COUNT");
    expect([scalerTypeOf({}), scalerTypeOf({ type: "QUEUE" })]).toEqual(["QUEUE_DELAY", "QUEUE_DELAY"]);
    expect(scalerTypeOf({ type: Unknown.value })).toBe(Unknown.value);
  });

  test.each<[keyof typeof kinds, failure: string, Properties]>([
    ["Template", `allowedCudaVersions: contains "12"; ${cuda}`, { allowedCudaVersions: ["12"] }],
    [
      "ServerlessEndpoint",
      'scalerType: is "QUEUE_DELAY"; must be REQUEST_COUNT if type is LOAD_BALANCER',
      { type: "LOAD_BALANCER", scalerType: "QUEUE_DELAY" },
    ],
    [
      "ServerlessEndpoint",
      "gpuPools: cannot be combined with gpuTypeIds",
      { gpuTypeIds: ["NVIDIA L4"], gpuPools: ["AMPERE_24"] },
    ],
    [
      "ServerlessEndpoint",
      "gpuPools: requires computeType GPU with REST v2",
      { computeType: "CPU", gpuPools: ["AMPERE_24"] },
    ],
    [
      "ServerlessEndpoint",
      'excludedGpuTypeIds: contains "NVIDIA L4" twice; remove one of them',
      { excludedGpuTypeIds: ["NVIDIA L4", "NVIDIA L4"] },
    ],
    [
      "ServerlessEndpoint",
      'excludedGpuTypeIds: contains "-L4"; a GPU type must not be blank or begin with -',
      { excludedGpuTypeIds: ["-L4"] },
    ],
  ])("%s %s, for properties of REST v2 alone", (kind, failure, news) => {
    expectFailures(kind, { ...required[kind], ...news }, "v2", [failure]);
  });

  test("a character beyond the basic plane counts once in the length of credentials", () => {
    const credentials = { username: "\u{1f511}".repeat(191), password: "p" };
    expect(failuresOf("ContainerRegistryAuth", credentials, "v2")).toEqual([]);
  });

  test("the rules for names of new secrets do not apply to the name of an existing one", () => {
    const secret = { name: "1st", value: "v" };
    const check = (olds: Properties) => kinds.Secret.check(olds, secret, naming(), [], "v2").failures;
    expect(check(secret)).toEqual([]);
    expect(check({ ...secret, name: "2nd" })).toHaveLength(1);
  });

  test("a value that is invalid with every version has one message", () => {
    expect(failuresOf("NetworkVolume", { ...required.NetworkVolume, size: 5000 }, "v2")).toEqual([
      "size: is 5000; must be a whole number from 0 to 4096",
    ]);
  });

  test("a volume of 4096 GB requires REST v2", () => {
    const volume = { size: 4096, dataCenterId: "EU-RO-1" };
    expect(failuresOf("NetworkVolume", volume, "v2")).toEqual([]);
    expectFailures("NetworkVolume", volume, "v1", ["size: is 4096; must be from 0 to 4000 with REST v1"]);
  });

  test.each([
    ["v1", 4096],
    ["v2", 5],
  ] as const)("a volume that only the other dialect creates keeps its size with %s, and no other", (dialect, size) => {
    const volume = { name: "models", size, dataCenterId: "EU-RO-1" };
    const failures = (olds: Properties) => kinds.NetworkVolume.check(olds, volume, naming(), [], dialect).failures;
    expect(failures(volume)).toEqual([]);
    for (const olds of [{}, { ...volume, size: 20 }]) expect(failures(olds)).toMatchObject([{ path: "size" }]);
  });

  test("the default idleTimeout, and any idleTimeout of a load balancer, is accepted with REQUEST_COUNT", () => {
    const scaled = { templateId: "t", scalerType: "REQUEST_COUNT" };
    expect(failuresOf("ServerlessEndpoint", scaled, "v2")).toEqual([]);
    expect(failuresOf("ServerlessEndpoint", { ...scaled, type: "LOAD_BALANCER", idleTimeout: 30 }, "v2")).toEqual([]);
  });

  test("a queue delay of half a second requires REST v2", () => {
    const endpoint = { templateId: "t", scalerValue: 0.5 };
    expect(failuresOf("ServerlessEndpoint", endpoint, "v2")).toEqual([]);
    const [inV1, ofJobs] = ["with REST v1", "if scalerType is REQUEST_COUNT"].map(
      (where) => `scalerValue: is 0.5; must be a whole number ${where}`,
    );
    expectFailures("ServerlessEndpoint", endpoint, "v1", [`${inV1}`]);
    expectFailures("ServerlessEndpoint", { ...endpoint, scalerType: "REQUEST_COUNT" }, "v2", [`${ofJobs}`]);
  });
});

test.each<["v1" | "v2", keyof typeof kinds, Properties, Properties]>([
  ["v1", "Template", { imageName: "a:1" }, { readme: "x" }],
  ["v1", "Template", { imageName: "a:1" }, { volumeMountPath: "/data" }],
  ["v2", "NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" }, { type: "STANDARD" }],
  ["v2", "ServerlessEndpoint", { templateId: "t" }, { type: "QUEUE" }],
  ["v2", "ServerlessEndpoint", { templateId: "t" }, { flashbootType: "OFF" }],
  ["v2", "ServerlessEndpoint", { templateId: "t", computeType: "CPU" }, { cpuFlavorIds: ["cpu3c-4"] }],
])("only REST %s accepts a %s %j with %j", (dialect, kind, base, property) => {
  const news = { ...base, ...property };
  expect(failuresOf(kind, news, dialect)).toEqual([]);
  const [key = ""] = Object.keys(property);
  const other = dialect === "v1" ? "v2" : "v1";
  expect(failuresOf(kind, news, other)).toEqual([expect.stringMatching(new RegExp(`^${key}: `))]);
});

test.each(["gpuPools", "excludedGpuTypeIds"])("%s requires GPU workers, and no gpuTypeIds, in both dialects", (key) => {
  const failures = (more: Properties) =>
    (["v1", "v2"] as const).map((dialect) =>
      failuresOf("ServerlessEndpoint", { templateId: "t", [key]: ["NVIDIA L4"], ...more }, dialect),
    );
  expect(failures({})).toEqual([[], []]);
  expect(failures({ gpuTypeIds: ["NVIDIA A40"] })).toEqual([
    [`${key}: cannot be combined with gpuTypeIds`],
    [`${key}: cannot be combined with gpuTypeIds`],
  ]);
  expect(failures({ computeType: "CPU" })).toEqual([
    [`${key}: requires computeType GPU`],
    [`${key}: requires computeType GPU with REST v2`],
  ]);
});

test("an unknown value of an input that only the other version accepts passes, because it may be absent", () => {
  const endpoint = { templateId: "t", flashbootType: Unknown.value, type: Unknown.value };
  expect(failuresOf("ServerlessEndpoint", endpoint, "v1")).toEqual([]);
});

describe("REST v2 cannot remove the volume of a template", () => {
  const { Template } = kinds;
  const pod = { imageName: "a:1", isServerless: false };
  const inputsOf = (more: Properties): Properties => Template.check({}, { ...pod, ...more }, naming("pod-dev")).inputs;
  const olds = inputsOf({ volumeInGb: 20 });

  test("volumeInGb 0 replaces the template in v2 and updates it in v1", () => {
    const news = inputsOf({ volumeInGb: 0 });
    expect(Template.diff(olds, news, "v2")).toMatchObject([{ path: ["volumeInGb"], replace: true }]);
    expect(Template.diff(olds, news, "v1")).toMatchObject([{ path: ["volumeInGb"], replace: false }]);
  });

  test("an omitted property keeps the volume", () => {
    expect(Template.diff(olds, inputsOf({}), "v2")).toEqual([]);
    expect(Template.diff(olds, inputsOf({}), "v1")).toEqual([]);
  });
});

test("a volume keeps its storage tier if the program omits it", () => {
  const { NetworkVolume } = kinds;
  const volume = { name: "models", size: 10, dataCenterId: "EU-RO-1" };
  expect(NetworkVolume.diff({ ...volume, type: "HIGH_PERFORMANCE" }, volume, "v2")).toEqual([]);
  expect(
    NetworkVolume.diff({ ...volume, type: "HIGH_PERFORMANCE" }, { ...volume, type: "STANDARD" }, "v2"),
  ).toMatchObject([{ path: ["type"], replace: true }]);
});
