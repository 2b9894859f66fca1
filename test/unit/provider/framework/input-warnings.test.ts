import { gpuTypes } from "serverless-compute-api/catalog";
import { secretReference } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import { Unknown } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";

const { NetworkVolume, ServerlessEndpoint, Template } = kinds;

test("ids outside the catalog cause a warning with the nearest known id", () => {
  const news = {
    gpuTypeIds: ["NVIDIA L44", "NVIDIA L4"],
    gpuPools: ["AMPERE24", "AMPERE_48"],
    excludedGpuTypeIds: ["NVIDIA A400"],
    cpuFlavorIds: ["cpu3x"],
    dataCenterIds: ["EU-RO1", "moon"],
  };
  expect(ServerlessEndpoint.inputWarnings({}, news, [])).toEqual([
    'gpuTypeIds: unknown GPU type "NVIDIA L44"; did you mean "NVIDIA L4"?',
    'cpuFlavorIds: unknown CPU flavour "cpu3x"; did you mean "cpu3c"?',
    'dataCenterIds: unknown data centre "EU-RO1"; did you mean "EU-RO-1"?',
    'dataCenterIds: unknown data centre "moon"; check that the service has it',
    'gpuPools: unknown GPU pool "AMPERE24"; did you mean "AMPERE_24"?',
    'excludedGpuTypeIds: unknown GPU type "NVIDIA A400"; did you mean "NVIDIA A40"?',
  ]);
  expect(NetworkVolume.inputWarnings({}, { dataCenterId: "EU-RO1" }, [])).toEqual([
    'dataCenterId: unknown data centre "EU-RO1"; did you mean "EU-RO-1"?',
  ]);
});

test.each<[value: string, advice: string]>([
  ["AMPERE_24", "it is a pool of: NVIDIA L4, NVIDIA RTX A5000, NVIDIA GeForce RTX 3090; set these types instead"],
  ["HOPPER_141", "it is a pool of: NVIDIA H200; set these types instead"],
  ["NVIDIA A5000", 'did you mean "NVIDIA RTX A5000"?'],
  ["A5000", 'did you mean "NVIDIA RTX A5000"?'],
  ["RTX 4090", 'did you mean "NVIDIA GeForce RTX 4090"?'],
  ["nvidia h100 80gb", 'did you mean "NVIDIA H100 80GB HBM3"?'],
  ["NVIDIA GeForce RTX 4O90", 'did you mean "NVIDIA GeForce RTX 4090"?'],
  ["NVIDIA GeForce RTX 5070", "check that the service has it"],
  ["NVIDIA A6000 Ada", "check that the service has it"],
  ["NVIDIA V100", "check that the service has it"],
  ["toString", "check that the service has it"],
])("%s is explained by its pool or a near type, never by another model", (value, advice) => {
  const warnings = ServerlessEndpoint.inputWarnings({}, { gpuTypeIds: [value] }, []);
  expect(warnings).toEqual([`gpuTypeIds: unknown GPU type "${value}"; ${advice}`]);
});

test("every pool of the catalog is explained by its types", () => {
  const pools = [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))];
  const warnings = ServerlessEndpoint.inputWarnings({}, { excludedGpuTypeIds: pools }, []);
  expect(warnings).toHaveLength(pools.length);
  for (const warning of warnings) expect(warning).toContain("; it is a pool of: ");
});

test("another data centre of a region is no suggestion", () => {
  expect(NetworkVolume.inputWarnings({}, { dataCenterId: "US-KS-9" }, [])).toEqual([
    'dataCenterId: unknown data centre "US-KS-9"; check that the service has it',
  ]);
});

test("values in state, empty values, unknown values and secret values cause no warning", () => {
  const news = { gpuTypeIds: ["NVIDIA Z9"] };
  expect(ServerlessEndpoint.inputWarnings(news, news, [])).toEqual([]);
  // The check reports it.
  expect(NetworkVolume.inputWarnings({}, { dataCenterId: "" }, [])).toEqual([]);
  expect(
    ServerlessEndpoint.inputWarnings({}, { gpuTypeIds: [Unknown.value], dataCenterIds: Unknown.value }, []),
  ).toEqual([]);
  expect(ServerlessEndpoint.inputWarnings({}, news, [["gpuTypeIds", "0"]])).toEqual([]);
});

describe("a plain variable whose name looks like a credential", () => {
  const hub = { HF_TOKEN: "hf_plain" };
  const advice = "looks like a credential in plain text; pass the reference of a Secret instead";

  test.each([
    "HF_TOKEN",
    "OPENAI_API_KEY",
    "apikey",
    "DB_PASSWORD",
    "PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "CLIENT_SECRET",
  ])("%s causes a warning without its value, in a template and in an endpoint", (name) => {
    for (const kind of [Template, ServerlessEndpoint])
      expect(kind.inputWarnings({}, { env: { [name]: "p4ssw0rd", MODEL: "x" } }, [])).toEqual([
        `env.${name}: ${advice}`,
      ]);
  });

  test.each(["MAX_TOKENS", "TOKENIZER", "SECRETARY", "KEYBOARD", "PASSWORD_FILE", "MODEL"])(
    "%s causes none",
    (name) => {
      expect(Template.inputWarnings({}, { env: { [name]: "value" } }, [])).toEqual([]);
    },
  );

  test("causes none if the value is a reference, secret, empty, unknown or in the state", () => {
    expect(Template.inputWarnings({}, { env: { HF_TOKEN: secretReference("hub") } }, [])).toEqual([]);
    expect(Template.inputWarnings({}, { env: hub }, [["env", "HF_TOKEN"]])).toEqual([]);
    expect(Template.inputWarnings({}, { env: hub }, [["env"]])).toEqual([]);
    expect(Template.inputWarnings({}, { env: { HF_TOKEN: "" } }, [])).toEqual([]);
    expect(Template.inputWarnings({}, { env: { HF_TOKEN: Unknown.value } }, [])).toEqual([]);
    expect(Template.inputWarnings({}, { env: Unknown.value }, [])).toEqual([]);
    expect(Template.inputWarnings({ env: hub }, { env: hub }, [])).toEqual([]);
    expect(Template.inputWarnings({ env: hub }, { env: { HF_TOKEN: "hf_other" } }, [])).toEqual([
      `env.HF_TOKEN: ${advice}`,
    ]);
  });
});
