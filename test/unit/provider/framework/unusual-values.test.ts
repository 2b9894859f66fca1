import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Properties, Value } from "../../../../provider/engine/values";
import { checkInputs } from "../../../../provider/framework/properties/check";
import { propertyOf } from "../../../../provider/framework/properties/schema";
import { kinds } from "../../../../provider/resources";
import { jobInvokeInputs, parseJobArgs } from "../../../../provider/resources/job-invoke/inputs";
import { serverlessEndpointInputs as endpointInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { templateInputs } from "../../../../provider/resources/template/inputs";
import { naming } from "../../../support/naming";

const linesOf = (shape: z.ZodObject, news: Properties): string[] =>
  checkInputs(shape, {}, news, naming("chat-dev")).failures.map(({ path, reason }) => `${path}: ${reason}`);

/** The shape of a present value. */
const inner = (schema: z.core.$ZodType): z.core.$ZodType & { description?: string } => propertyOf(schema).inner;

describe("a name that zod drops from a map", () => {
  const reason = "is a reserved name; use another one";
  const withProto = (value: Value): Properties => Object.fromEntries([["__proto__", value]]);

  test.each<[z.ZodObject, Properties, string]>([
    [templateInputs, { imageName: "a", env: withProto("1") }, `env.__proto__: ${reason}`],
    [jobInvokeInputs, { endpointId: "e", input: withProto({ a: 1 }) }, `input.__proto__: ${reason}`],
    [endpointInputs, { templateId: "t", verify: { input: withProto(1) } }, `verify.input.__proto__: ${reason}`],
  ])("is rejected", (shape, news, line) => {
    expect(linesOf(shape, news)).toEqual([line]);
  });

  test("is accepted below a value of any form, which is kept as it is", () => {
    expect(linesOf(jobInvokeInputs, { endpointId: "e", input: { a: withProto(1) } })).toEqual([]);
  });
});

test("a number that is not finite is shown as it is", () => {
  expect(linesOf(endpointInputs, { templateId: "t", workersMax: Number.NaN })).toEqual([
    "workersMax: is NaN; must be a number",
  ]);
});

const signature = (kind: string) => ({ "4dabf18193072939515e22adb298388d": kind });
const asset: Properties = { ...signature("c44067f5952c0a294b673a41bacd8c17"), text: "x", hash: "2d711642" };
const archive: Properties = {
  ...signature("0def7320c3a5731c473e5ecbe6d01bc7"),
  assets: { a: asset },
  hash: "2d711642",
};
const isAsset = "is an asset or an archive; pass its content as a JSON value";

describe.each<[string, Value, string]>([
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((number): [string, Value, string] => [
    `the number ${number}`,
    number,
    "must be a finite number",
  ]),
  ["an asset", asset, isAsset],
  ["an archive", archive, isAsset],
])("%s", (_, unusual, reason) => {
  const [job, verified] = [{ endpointId: "e" }, { templateId: "t" }];
  const value = { a: [1, { b: unusual }] };

  test.each<[z.ZodObject, Properties, string]>([
    [jobInvokeInputs, { ...job, input: value }, "input.a[1].b"],
    [jobInvokeInputs, { ...job, input: {}, triggers: [1, unusual] }, "triggers[1]"],
    [jobInvokeInputs, { ...job, input: {}, expect: { output: unusual } }, "expect.output"],
    [jobInvokeInputs, { ...job, request: { path: "/", body: value } }, "request.body.a[1].b"],
    [jobInvokeInputs, { ...job, request: { path: "/", expect: { body: [unusual] } } }, "request.expect.body[0]"],
    [endpointInputs, { ...verified, verify: { input: value } }, "verify.input.a[1].b"],
    [endpointInputs, { ...verified, verify: { input: {}, triggers: [value] } }, "verify.triggers[0].a[1].b"],
    [endpointInputs, { ...verified, verify: { input: {}, expect: { output: value } } }, "verify.expect.output.a[1].b"],
    [
      endpointInputs,
      {
        ...verified,
        type: "LOAD_BALANCER",
        scalerType: "REQUEST_COUNT",
        verify: { request: { path: "/", body: unusual } },
      },
      "verify.request.body",
    ],
  ])("is rejected in a value of any form", (shape, news, path) => {
    expect(linesOf(shape, news)).toEqual([`${path}: ${reason}`]);
    if (shape === jobInvokeInputs) expect(() => parseJobArgs({ ...job, ...news })).toThrow(`${path}: ${reason}`);
  });
});

test("an asset is rejected as a whole where a map is expected", () => {
  expect(linesOf(jobInvokeInputs, { endpointId: "e", input: asset })).toEqual([`input: ${isAsset}`]);
  expect(linesOf(templateInputs, { imageName: "a", env: asset })).toEqual([`env: ${isAsset}`]);
});

describe("an id that no object can have", () => {
  const rows = Object.values(kinds).flatMap(({ kind, inputs }) =>
    Object.entries(inputs.shape).flatMap(([input, schema]) =>
      /^Ids? of /.test(inner(schema).description ?? "") ? [{ kind, inputs, input, schema }] : [],
    ),
  );

  test("the table contains the references of all kinds", () => {
    expect(rows.map(({ kind, input }) => `${kind} ${input}`)).toEqual([
      "Template containerRegistryAuthId",
      "ServerlessEndpoint templateId",
      "ServerlessEndpoint containerRegistryAuthId",
      "ServerlessEndpoint networkVolumeId",
      "ServerlessEndpoint networkVolumeIds",
      "JobInvoke endpointId",
    ]);
  });

  test.each(rows.flatMap((row) => [" ", "...", "\ud800"].map((id) => ({ ...row, id }))))(
    "is rejected by the check: $kind $input $id",
    ({ inputs, input, schema, id }) => {
      const [value, path] = inner(schema) instanceof z.ZodArray ? [["a1", id], `${input}[1]`] : [id, input];
      expect(linesOf(inputs, { [input]: value })).toContain(
        `${path}: is ${JSON.stringify(id)}; must be the id of an object`,
      );
    },
  );
});
