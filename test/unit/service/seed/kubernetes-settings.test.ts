import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSeedFile } from "../../../../service/seed/seed-file";
import { checkOptions } from "../../../../service/settings";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import { scratchFolder } from "../../../support/folders";

/** Invalid settings of each key, with the path and the text of their error. */
const faults: Record<string, [value: unknown, path: string, text: string][]> = {
  context: [
    [1, "", "1 is not allowed; must be a string"],
    ["", "", '"" is not allowed; must not be empty'],
  ],
  namespace: [
    [["a"], "", '["a"] is not allowed; must be a string'],
    ["Foo Bar", "", '"Foo Bar" is not allowed; must be a name of up to 63 lowercase letters, digits and "-"'],
    ["", "", '"" is not allowed; must be a name'],
  ],
  workerUrl: [
    [7338, "", "7338 is not allowed; must be a string"],
    ["10.0.0.1:7338", "", "must be an address that begins with http:// or https://"],
  ],
  gpuResource: [
    [1, "", "1 is not allowed; must be a string"],
    ["gpu", "", '"gpu" is not allowed; must be a resource with its domain, such as nvidia.com/gpu'],
  ],
  gpuNodes: [
    ["NVIDIA L4", "", '"NVIDIA L4" is not allowed; must be an object'],
    [{ "NVIDIA L44": {} }, ".NVIDIA L44", "unknown property; expected one of "],
    [{ L4: {} }, ".L4", "NVIDIA L4, "],
    [{ "NVIDIA L4": "gpu" }, ".NVIDIA L4", '"gpu" is not allowed; must be an object'],
    [
      { "NVIDIA L4": { nodeSelectors: {} } },
      ".NVIDIA L4.nodeSelectors",
      "unknown property; expected one of nodeSelector, tolerations",
    ],
    [{ "NVIDIA L4": { nodeSelector: { count: 1 } } }, ".NVIDIA L4.nodeSelector.count", "must be a string"],
    [
      { "NVIDIA L4": { nodeSelector: { gpu: "a b" } } },
      ".NVIDIA L4.nodeSelector.gpu",
      '"a b" is not allowed; must be up to',
    ],
    [{ "NVIDIA L4": { nodeSelector: { "a b": "1" } } }, ".NVIDIA L4.nodeSelector.a b", "must be a label, such as"],
    [{ "NVIDIA L4": { tolerations: { key: "gpu" } } }, ".NVIDIA L4.tolerations", "must be a list"],
    [{ "NVIDIA L4": { tolerations: ["gpu"] } }, ".NVIDIA L4.tolerations.0", "must be an object"],
    [
      { "NVIDIA L4": { tolerations: [{ name: "gpu" }] } },
      ".NVIDIA L4.tolerations.0.name",
      "unknown property; expected one of key, operator, value, effect, tolerationSeconds",
    ],
    [
      { "NVIDIA L4": { tolerations: [{ operator: "exists" }] } },
      ".NVIDIA L4.tolerations.0.operator",
      'must be "Exists" or "Equal"',
    ],
    [
      { "NVIDIA L4": { tolerations: [{ effect: "NoStart" }] } },
      ".NVIDIA L4.tolerations.0.effect",
      'must be "NoSchedule", "PreferNoSchedule" or "NoExecute"',
    ],
    ...[
      [{ key: "a b" }, "key", '"a b" is not allowed; must be a label, such as'],
      [{ key: "a", value: "b c" }, "value", "must be up to 63 letters"],
      [{ key: "a", operator: "Exists", value: "b" }, "value", "must be empty with the operator Exists"],
      [{ operator: "Equal" }, "operator", '"Equal" is not allowed; must be Exists without a key'],
      [{ key: "a", effect: "NoSchedule", tolerationSeconds: 5 }, "effect", "must be NoExecute with tolerationSeconds"],
    ].map(([toleration, name, text]): [object, string, string] => [
      { "NVIDIA L4": { tolerations: [toleration] } },
      `.NVIDIA L4.tolerations.0.${name}`,
      String(text),
    ]),
    [
      { "NVIDIA L4": { tolerations: [{ tolerationSeconds: "5" }] } },
      ".NVIDIA L4.tolerations.0.tolerationSeconds",
      "must be a number",
    ],
  ],
  zones: [
    [["a"], "", '["a"] is not allowed; must be an object'],
    [{ "EU-RO-11": "a" }, ".EU-RO-11", "unknown property; expected one of "],
    [{ "EU-RO-1": 1 }, ".EU-RO-1", "1 is not allowed; must be a string"],
    [{ "EU-RO-1": "-a" }, ".EU-RO-1", '"-a" is not allowed; must be up to 63 letters, digits'],
  ],
  storageClass: [
    [1, "", "1 is not allowed; must be a string"],
    ["Fast", "", '"Fast" is not allowed; must be a name of up to 253 lowercase letters'],
  ],
  accessMode: [["ReadWriteMuch", "", 'must be "ReadWriteMany" or "ReadWriteOnce"']],
  podSecurity: [["none", "", 'must be "restricted" or "baseline"']],
  runAsUser: [
    ["1000", "", "must be a number"],
    [0, "", "must be 1 or more"],
    [1.5, "", "must be a whole number"],
    [2 ** 31, "", "must be 2147483647 or less"],
  ],
};

/** Errors of settings as an option, and in a seed file. */
function errorsOf(kubernetes: object): string[] {
  const file = join(scratchFolder(), "endpoints.yaml");
  writeFileSync(file, JSON.stringify({ kubernetes }));
  return [() => checkOptions({ kubernetes }), () => readSeedFile(file)].map((read) => {
    try {
      read();
      return "accepted";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
}

test("the table contains each setting of the cluster", () => {
  expect(Object.keys(faults)).toEqual(Object.keys(kubernetesShape.shape));
});

test("an unknown setting of the cluster is reported with all settings", () => {
  for (const error of errorsOf({ gpuNode: {} }))
    expect(error).toContain(
      `kubernetes.gpuNode: unknown property; expected one of ${Object.keys(kubernetesShape.shape).join(", ")}`,
    );
});

test.for(Object.entries(faults).flatMap(([key, rows]) => rows.map((row) => [key, ...row] as const)))(
  "kubernetes.%s: %j is reported as kubernetes.*%s with what is allowed",
  ([key, value, path, text]) => {
    for (const error of errorsOf({ [key]: value })) {
      expect(error).toContain(`kubernetes.${key}${path}: `);
      expect(error).toContain(text);
    }
  },
);
