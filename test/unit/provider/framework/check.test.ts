import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { type Path, type Properties, Unknown, type Value } from "../../../../provider/engine/values";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { defaultsKey } from "../../../../provider/framework/properties/defaults";
import { kinds } from "../../../../provider/resources";
import { jobInvokeInputs } from "../../../../provider/resources/job-invoke/inputs";
import { serverlessEndpointInputs as endpointInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { templateInputs } from "../../../../provider/resources/template/inputs";
import { longSecrets } from "../../../support/long-secrets";
import { naming } from "../../../support/naming";

const [networkVolumeInputs, secretInputs] = [kinds.NetworkVolume.inputs, kinds.Secret.inputs];
const unknown = Unknown.value;

/** Failures as lines, for a new resource that is called chat in the stack dev. */
function linesOf(shape: z.ZodObject, news: Properties, olds: Properties = {}): string[] {
  return checkInputs(shape, olds, news, naming("chat-dev")).failures.map(({ path, reason }) => `${path}: ${reason}`);
}

describe("a bad input is rejected with its path, its value and what is allowed", () => {
  const rows: [z.ZodObject, Properties, ...lines: string[]][] = [
    [templateInputs, {}, "imageName: is required"],
    [
      templateInputs,
      { imageName: 1, containerDiskInGb: -1 },
      "imageName: is 1; must be a string; put it in quotes",
      "containerDiskInGb: is -1; must be 0 or more",
    ],
    [
      endpointInputs,
      { templateId: "t", idleTimeout: 5000 },
      "idleTimeout: is 5000; must be a whole number from 1 to 3600",
    ],
    [
      networkVolumeInputs,
      { size: 1.5, dataCenterId: "EU-RO-1" },
      "size: is 1.5; must be a whole number from 0 to 4096",
    ],
    [
      endpointInputs,
      { templateId: "t", scalerType: "FAST" },
      'scalerType: is "FAST"; must be "QUEUE_DELAY" or "REQUEST_COUNT"',
    ],
    [
      templateInputs,
      { imageName: "a", ports: "8888" },
      'ports: is "8888"; must be a comma-separated list of <port>/http or <port>/tcp with ports from 1 to 65535, such as "8888/http,22/tcp"',
    ],
    [
      endpointInputs,
      { templateId: "t", gpuTypeIds: ["NVIDIA L4", 4] },
      "gpuTypeIds[1]: is 4; must be a string; put it in quotes",
    ],
    [
      jobInvokeInputs,
      { endpointId: "e", input: {}, policy: { ttl: 1 } },
      "policy.ttl: is 1; must be a whole number from 10000 to 604800000",
    ],
    [
      jobInvokeInputs,
      { endpointId: "e", request: { path: "foo", method: "GRAB" } },
      'request.path: is "foo"; must be a path that begins with / and contains no whitespace',
      'request.method: is "GRAB"; must be "GET", "POST", "PUT", "PATCH" or "DELETE"',
    ],
    [jobInvokeInputs, { endpointId: "e" }, "input: exactly one of input and request is required"],
    [
      jobInvokeInputs,
      { endpointId: "e", input: {}, webhook: "ftp://127.0.0.1/", s3Config: { accessSecret: 90210, bucket: "b" } },
      "s3Config.bucket: unknown property; expected one of accessId, accessSecret, bucketName, endpointUrl",
      'webhook: is "ftp://127.0.0.1/"; must be an address that begins with http:// or https://',
      "s3Config.accessSecret: must be a string; put it in quotes",
    ],
    [
      jobInvokeInputs,
      { endpointId: "e", request: { path: "/a b" } },
      'request.path: is "/a b"; must be a path that begins with / and contains no whitespace',
    ],
    ...[
      { policy: {} },
      { webhook: "http://127.0.0.1/" },
      { s3Config: {} },
      { expect: { status: "FAILED" } },
      { expect: { output: 1 } },
    ].map((ofJobs): [z.ZodObject, Properties, string] => [
      jobInvokeInputs,
      { endpointId: "e", request: { path: "/" }, ...ofJobs },
      "request: cannot be combined with policy, webhook, s3Config or expect, which apply to jobs; use request.expect",
    ]),
    [
      endpointInputs,
      { templateId: "t", workersMin: 3, workersMax: 1 },
      "workersMax: is 1; must be at least workersMin",
    ],
    [
      templateInputs,
      { imageName: "a", dockerArgs: "x", dockerStartCmd: ["y"] },
      'dockerArgs: is "x"; cannot be combined with dockerEntrypoint or dockerStartCmd',
    ],
    // The rule applies to defaults.
    [templateInputs, { imageName: "a", volumeInGb: 10 }, "volumeInGb: is 10; must be 0 when isServerless is true"],
    [
      templateInputs,
      { imageNaem: "a", volumeInGb: 10, dockerArgs: 1 },
      'imageNaem: unknown property; did you mean "imageName"?',
      "imageName: is required",
      "dockerArgs: is 1; must be a string; put it in quotes",
      "volumeInGb: is 10; must be 0 when isServerless is true",
    ],
    [
      templateInputs,
      { imageName: "a", imagename: "x", dockerArg: "x" },
      'imagename: unknown property; did you mean "imageName"?',
      'dockerArg: unknown property; did you mean "dockerArgs"?',
    ],
    [
      networkVolumeInputs,
      { size: 1, dataCenterId: "a", colour: "red" },
      "colour: unknown property; expected one of name, size, dataCenterId, type, adoptExisting",
    ],
    [
      jobInvokeInputs,
      { endpointId: "e", input: {}, expect: { outptu: {} } },
      'expect.outptu: unknown property; did you mean "output"?',
    ],
  ];
  test.each(rows.map(([shape, news, ...lines]) => ({ shape, news, lines })))("$news", ({ shape, news, lines }) => {
    expect(linesOf(shape, news)).toEqual(lines);
  });

  test("a long value is truncated", () => {
    const [line] = linesOf(templateInputs, { imageName: "a", ports: "x".repeat(500) });
    expect(line?.length).toBeLessThan(250);
  });
});

describe("no message contains a value that may be secret", () => {
  test.each<[string, z.ZodObject, Properties]>([
    ["a secret property", secretInputs, { name: "a b", value: 90210 }],
    ["an environment variable", templateInputs, { imageName: "a", env: { TOKEN: 90210 } }],
    ["an environment variable beside an unknown one", templateInputs, { env: { TOKEN: 90210, OTHER: unknown } }],
    ["a job's input", jobInvokeInputs, { endpointId: "e", input: "90210" }],
  ])("%s", (_, shape, news) => {
    const lines = linesOf(shape, news);
    expect(lines).not.toEqual([]);
    expect(lines.join("\n")).not.toContain("90210");
  });
});

describe("no message contains a value at a path that the program made secret", () => {
  test.each<[string, z.ZodObject, Properties, Path[]]>([
    ["a property", templateInputs, { imageName: "a", ports: "90210" }, [["ports"]]],
    ["a property of another type", templateInputs, { imageName: "a", dockerArgs: 90210 }, [["dockerArgs"]]],
    ["a long property", templateInputs, { imageName: "a", ports: `90210${longSecrets().text}` }, [["ports"]]],
    ["an element", endpointInputs, { templateId: "t", gpuTypeIds: ["a", 90210] }, [["gpuTypeIds", "1"]]],
    ["a nested property", jobInvokeInputs, { endpointId: "e", input: {}, policy: { ttl: 90 } }, [["policy"]]],
    [
      "a property in a rule",
      endpointInputs,
      { templateId: "t", workersMin: 99999, workersMax: 90210 },
      [["workersMax"]],
    ],
    [
      "an element beside an unknown element",
      endpointInputs,
      { templateId: "t", gpuTypeIds: [unknown, 90210] },
      [["gpuTypeIds"]],
    ],
  ])("%s", (_, shape, news, secrets) => {
    const lines = checkInputs(shape, {}, news, naming("chat"), secrets).failures.map(
      ({ path, reason }) => `${path}: ${reason}`,
    );
    expect(lines).toHaveLength(1);
    expect(lines.join("\n")).toMatch(/: must /);
    expect(lines.join("\n")).not.toContain("90");
  });

  test("or its previous value", () => {
    const [olds, news] = [20, 10].map((size) => ({ name: "a", dataCenterId: "d", size }));
    const reasons = (secrets: Path[]): string[] =>
      checkInputs(networkVolumeInputs, olds ?? {}, news ?? {}, naming("chat"), secrets).failures.map(
        ({ reason }) => reason,
      );
    expect(reasons([])).toEqual([
      "cannot shrink from 20 to 10; set 20 or more, or create a new volume under another resource name",
    ]);
    expect(reasons([["size"]])).toEqual([expect.stringMatching(/^cannot shrink; /)]);
  });
});

describe("a value that is unknown before deployment", () => {
  test("is kept and counts as set", () => {
    const { inputs, failures } = checkInputs(
      templateInputs,
      {},
      { imageName: unknown, env: { A: unknown } },
      naming("chat"),
    );
    expect(failures).toEqual([]);
    expect(inputs["imageName"]).toBe(unknown);
    expect(inputs["env"]).toEqual({ A: unknown });
    expect(inputs["containerDiskInGb"]).toBe(50);
  });

  test("does not hide an adjacent fault, at any depth", () => {
    expect(linesOf(templateInputs, { imageName: unknown, env: { A: unknown, B: 2 } })).toEqual([
      "env.B: must be a string; put it in quotes",
    ]);
    expect(linesOf(endpointInputs, { templateId: unknown, gpuTypeIds: [unknown, 4] })).toEqual([
      "gpuTypeIds[1]: is 4; must be a string; put it in quotes",
    ]);
    expect(linesOf(jobInvokeInputs, { endpointId: unknown, input: { a: unknown }, policy: { ttl: 1 } })).toEqual([
      "policy.ttl: is 1; must be a whole number from 10000 to 604800000",
    ]);
  });

  test("does not hide that its container is invalid", () => {
    expect(linesOf(endpointInputs, { templateId: "t", gpuTypeIds: { first: unknown } })).toEqual([
      "gpuTypeIds: must be a list",
    ]);
    expect(linesOf(templateInputs, { imageName: [unknown] })).toEqual(["imageName: must be a string"]);
  });

  test("does not affect a rule that ignores its contents", () => {
    const balancer = { templateId: "t", type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" };
    const verifyOf = (verify: Value): string[] => linesOf(endpointInputs, { ...balancer, verify });
    expect(verifyOf({ input: { a: unknown } })).toEqual([
      "verify: must have request if type is LOAD_BALANCER, which accepts no jobs, and input otherwise",
    ]);
    expect(verifyOf(unknown)).toEqual([]);
    const request = { path: "/" };
    expect(verifyOf({ request })).toEqual([]);
    for (const ofJobs of [{ input: {} }, { policy: {} }, { expect: { status: "FAILED" } }])
      expect(verifyOf({ request, ...ofJobs })).toEqual([
        "verify: cannot combine request with input, policy or expect; use request.expect",
      ]);
  });

  test("suspends only the rules that depend on it", () => {
    expect(linesOf(endpointInputs, { templateId: "t", workersMin: 9, workersMax: unknown })).toEqual([]);
    expect(linesOf(endpointInputs, { templateId: unknown, workersMin: 9, workersMax: 1 })).toEqual([
      "workersMax: is 1; must be at least workersMin",
    ]);
    expect(linesOf(templateInputs, { imageName: "a", isServerless: unknown, volumeInGb: 10 })).toEqual([]);
    for (const key of ["input", "policy", "webhook", "s3Config", "expect"])
      expect(linesOf(jobInvokeInputs, { endpointId: "e", request: { path: "/" }, [key]: unknown })).toEqual([]);
  });

  test("may be a whole map, list or nested object", () => {
    expect(linesOf(templateInputs, { imageName: "a", env: unknown })).toEqual([]);
    expect(linesOf(endpointInputs, { templateId: "t", gpuTypeIds: unknown })).toEqual([]);
    expect(linesOf(jobInvokeInputs, { endpointId: "e", input: unknown, expect: unknown, triggers: [unknown] })).toEqual(
      [],
    );
  });
});

describe("an omitted value", () => {
  test("receives its default, even if nested", () => {
    const { inputs } = checkInputs(
      jobInvokeInputs,
      {},
      { endpointId: "e", input: {}, expect: { output: 1 } },
      undefined,
    );
    expect(inputs).toEqual({
      endpointId: "e",
      input: {},
      mode: "async",
      timeout: 300,
      triggers: [],
      expect: { status: "COMPLETED", output: 1 },
      storeOutput: true,
      [defaultsKey]: ["mode", "timeout", "triggers", "storeOutput"],
    });
  });

  test("may be written as null, except where null is a value", () => {
    const news = { endpointId: "e", input: { a: null }, policy: null, triggers: [null], expect: { output: null } };
    const { inputs, failures } = checkInputs(jobInvokeInputs, {}, news, undefined);
    expect(failures).toEqual([]);
    expect(inputs).not.toHaveProperty("policy");
    expect(inputs["expect"]).toEqual({ status: "COMPLETED", output: null });
    expect(inputs["triggers"]).toEqual([null]);
  });
});

describe("a volume's size", () => {
  const olds = { name: "chat-dev", size: 100, dataCenterId: "EU-RO-1" };
  test("may shrink if the volume is replaced", () => {
    expect(linesOf(networkVolumeInputs, { size: 50, dataCenterId: "US-KS-2" }, olds)).toEqual([]);
    expect(linesOf(networkVolumeInputs, { size: 50, dataCenterId: unknown }, olds)).toEqual([]);
  });
  test("may grow, stay the same or be unknown", () => {
    for (const size of [100, 150, unknown])
      expect(linesOf(networkVolumeInputs, { size, dataCenterId: "EU-RO-1" }, olds)).toEqual([]);
  });
});
