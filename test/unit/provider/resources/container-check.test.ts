import { describe, expect, test } from "vitest";
import { type Properties, Unknown } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { naming } from "../../../support/naming";

const { ServerlessEndpoint } = kinds;

describe("the check of a container", () => {
  test.each<[dialect: "v1" | "v2", news: Properties, failure: string]>([
    ["v1", {}, "imageName: is required without templateId"],
    ["v2", {}, "imageName: is required without templateId"],
    [
      "v1",
      { imageName: "a:1" },
      "imageName: is supported only by REST v2; remove it, also from ignoreChanges, or set the provider's dialect to v2",
    ],
    [
      "v1",
      { imageName: "a:1" },
      "templateId: is required with REST v1; create a Template with the image, or set the provider's dialect to v2",
    ],
    [
      "v1",
      { templateId: "t", env: { A: "1" } },
      "env: is supported only by REST v2; remove it, also from ignoreChanges, or set the provider's dialect to v2",
    ],
    [
      "v2",
      { imageName: "a:1", dockerArgs: "x", dockerStartCmd: ["y"] },
      'dockerArgs: is "x"; cannot be combined with dockerEntrypoint or dockerStartCmd',
    ],
    ["v2", { imageName: "a:1", containerDiskInGb: 0 }, "containerDiskInGb: is 0; must be 1 or more"],
    [
      "v2",
      { imageName: "a:1", env: { SERVERLESS_COMPUTE_TEMPLATE_ID: "t" } },
      "env: must not contain SERVERLESS_COMPUTE_TEMPLATE_ID, which the provider sets; remove it",
    ],
  ])("%s rejects %j: %s", (dialect, news, failure) => {
    const { failures } = ServerlessEndpoint.check({}, { name: "x", ...news }, naming(), [], dialect);
    expect(failures.map(({ path, reason }) => `${path}: ${reason}`)).toContain(failure);
  });

  test.each<Properties>([
    { imageName: "a:1", ports: "0/http" },
    { imageName: "a:1", ports: "65536/http" },
    { imageName: "a:1", env: { "": "x" } },
    { imageName: "", templateId: "t" },
    { templateId: "" },
  ])("rejects %j", (news) => {
    expect(ServerlessEndpoint.check({}, { name: "x", ...news }, naming(), [], "v2").failures).toHaveLength(1);
  });

  test.each<Properties>([
    { templateId: Unknown.value },
    { imageName: Unknown.value },
    { templateId: "t", imageName: "a:1", env: { A: "1" } },
  ])("accepts %j", (news) => {
    expect(ServerlessEndpoint.check({}, { name: "x", ...news }, naming(), [], "v2").failures).toEqual([]);
  });
});

describe("the default of a setting is like an absent one", () => {
  test.each([
    ["containerDiskInGb", 80, 50],
    ["executionTimeoutMs", 5000, 600_000],
  ])(
    "but a change of %s between %i and the default %i is neither an addition nor a removal",
    (key, value, byDefault) => {
      const [set, reset] = [value, byDefault].map((setting) => ({
        name: "chat",
        imageName: "acme/chat:1",
        [key]: setting,
      }));
      const kinds = [
        ServerlessEndpoint.diff(set ?? {}, reset ?? {}, "v2"),
        ServerlessEndpoint.diff(reset ?? {}, set ?? {}, "v2"),
      ];
      expect(kinds.map((changes) => changes.map(({ path, kind }) => [...path, kind]))).toEqual([
        [[key, "update"]],
        [[key, "update"]],
      ]);
    },
  );

  test.each<Properties>([{ containerDiskInGb: 50 }, { dockerArgs: "" }, { env: {} }, { ports: "" }])(
    "in an endpoint with its own container and %j, but a template's setting overrides it",
    (settings) => {
      const { diff } = ServerlessEndpoint;
      const own = { name: "chat", imageName: "acme/chat:1" };
      expect([diff({ ...own, ...settings }, own, "v2"), diff(own, { ...own, ...settings }, "v2")]).toEqual([[], []]);
      const copy = { name: "chat", templateId: "t1" };
      const changes = "env" in settings ? 0 : 1;
      expect(diff({ ...copy, ...settings }, copy, "v2")).toHaveLength(changes);
      expect(diff(copy, { ...copy, ...settings }, "v2")).toHaveLength(changes);
    },
  );
});
