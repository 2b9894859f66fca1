import {
  type EndpointRecord,
  optionsOf,
  serverlessEndpointRecord,
  type TemplateRecord,
  type TemplateSettings,
  templateFields,
  templateRecord,
  v2TemplatePatch,
  v2TemplateRecord,
} from "serverless-compute-api/shapes";
import { expect, expectTypeOf, test } from "vitest";
import { templateBody } from "../../../api/dialects/rest-v2-bodies";
import { plainProperties } from "../../support/sample-values";

const explicit: TemplateSettings = {
  name: "chat",
  imageName: "acme/chat:1",
  containerDiskInGb: 20,
  volumeInGb: 30,
  dockerArgs: "python handler.py",
  env: { MODEL: "small" },
  ports: "8888/http,22/tcp",
  readme: "Answers questions",
  volumeMountPath: "/data",
  isServerless: false,
  containerRegistryAuthId: "auth1",
  startSsh: true,
  startJupyter: false,
  isPublic: true,
  category: "NVIDIA",
  allowedCudaVersions: ["12.4"],
};
const others = plainProperties(templateFields, Object.keys(explicit));
const settings = { ...explicit, ...Object.fromEntries(others.map(({ name, values: [, value] }) => [name, value])) };

test("the settings of this file contain every property of a template", () => {
  expect(Object.keys(settings).sort()).toEqual(Object.keys(templateFields).sort());
});

test("a body of REST v2 has the names and the form of its shape, without properties of REST v1", () => {
  const body = templateBody(settings);
  expect(v2TemplatePatch.parse(body)).toEqual(body);
  expect(body).toMatchObject({ image: "acme/chat:1", disk: 20, mounts: { persistent: { size: 30, path: "/data" } } });
  expect(body).not.toHaveProperty("readme");
});

test("a record of REST v2 with the fields of a body is the template with these settings", () => {
  const { unknownKeys, ...record } = v2TemplateRecord.parse({ id: "t1", ...templateBody(settings), fresh: 1 });
  const reported = Object.entries(settings).filter(([key]) => !unknownKeys?.some((unreported) => unreported === key));
  expect(record).toMatchObject(Object.fromEntries(reported));
  expect(unknownKeys).toEqual(["readme"]);
  expect(record).not.toHaveProperty("fresh");
});

test("a record of GraphQL or REST v1 has the settings under their own names", () => {
  const env = [{ key: "MODEL", value: "small" }];
  expect(templateRecord.parse({ id: "t1", ...settings, env })).toEqual({ id: "t1", ...settings });
  const ports = ["8888/http", "22/tcp"];
  expect(templateRecord.parse({ id: "t1", ...settings, ports, earned: 0 })).toEqual({ id: "t1", ...settings });
});

test("absent and null properties are omitted from a record; wrong types are rejected", () => {
  const minimal = { id: "t1", name: "chat", startSsh: null };
  expect(Object.keys(templateRecord.parse(minimal))).not.toContain("category");
  expect(templateRecord.parse(minimal).startSsh).toBeUndefined();
  expect(templateRecord.safeParse({ ...minimal, startSsh: "yes" }).error?.issues[0]?.path).toEqual(["startSsh"]);
  // The bounds of inputs do not apply to responses.
  expect(templateRecord.parse({ ...minimal, category: "GPU" }).category).toBe("GPU");
});

test("options of a property also apply where it is optional or has a default", () => {
  const { isServerless, startSsh } = templateFields;
  expect(optionsOf(isServerless.default(true))).toMatchObject({ replaceOnChanges: true });
  expect(optionsOf(startSsh.optional())).toMatchObject({ computedWhenUnset: true });
});

test("the TypeScript types of records match their values", () => {
  expectTypeOf<TemplateRecord["startSsh"]>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<TemplateRecord["category"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<TemplateRecord["allowedCudaVersions"]>().toEqualTypeOf<string[] | undefined>();
  expectTypeOf<EndpointRecord["workersMax"]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<EndpointRecord["dataCenterIds"]>().toEqualTypeOf<string[]>();
  const endpoint = { id: "e1", name: "chat", templateId: "t1", workersMax: 3, scalerType: "NEW", gpuTypeIds: ["A"] };
  expect(serverlessEndpointRecord.parse(endpoint)).toEqual(endpoint);
  for (const wrong of [{ workersMax: "3" }, { scalerType: 1 }, { gpuTypeIds: [1] }, { flashboot: "OFF" }])
    expect(serverlessEndpointRecord.safeParse({ ...endpoint, ...wrong }).success).toBe(false);
});
