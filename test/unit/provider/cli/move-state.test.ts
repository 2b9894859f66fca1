import { describe, expect, it } from "vitest";
import { moveState } from "../../../../provider/cli/move/move-state";
import { kinds } from "../../../../provider/resources";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { expectResponse } from "../../../support/raw-http";

const bench = await useLifecycleBench();
const { Template } = kinds;

const urn = (type: string, name: string): string => `urn:pulumi:dev::shop::${type}::${name}`;
const provider = (name: string, inputs: object = {}) => {
  const type = "pulumi:providers:pulumi-nodejs";
  return { urn: urn(type, name), type, custom: true, id: `id-of-${name}`, inputs, outputs: inputs };
};
const object = (kind: string, name: string, providerName: string, others: object = {}) => {
  const type = `pulumi-nodejs:dynamic/${kind}`;
  const reference = `${urn("pulumi:providers:pulumi-nodejs", providerName)}::id-of-${providerName}`;
  return { urn: urn(type, name), type, custom: true, id: name, provider: reference, inputs: { a: 1 }, ...others };
};

/** Types, names and providers in a moved state. */
function moved(resources: object[]): string[] {
  const { deployment } = JSON.parse(moveState(JSON.stringify({ version: 3, deployment: { resources } })).text);
  return deployment.resources.map((resource: { urn: string; provider?: string }) => {
    const [type, name] = resource.urn.split("::").slice(2);
    const [providerType, providerName] = resource.provider?.split("::").slice(2) ?? [];
    return `${type} ${name}${providerType ? ` of ${providerType} ${providerName}` : ""}`;
  });
}

describe("moving a stack's state to the plugin", () => {
  it("is rejected after an interrupted deployment, whose objects the moved state would forget", () => {
    const resources = [provider("default"), object("serverless:Template", "a", "default")];
    const [, resource] = resources;
    const move = (type: string) =>
      moveState(JSON.stringify({ version: 3, deployment: { resources, pending_operations: [{ type, resource }] } }));
    expect(() => move("creating")).toThrow("run `serverless-compute recover`, then export the state again");
    expect(move("updating").moved).toBe(1);
  });

  it("merges several default providers into one, before the first resource that uses it", () => {
    const plugin = "pulumi:providers:serverless-compute";
    expect(
      moved([
        provider("default"),
        object("serverless:Template", "a", "default"),
        provider("default_3_248_0"),
        object("serverless:Secret", "b", "default_3_248_0"),
      ]),
    ).toEqual([
      "pulumi:providers:pulumi-nodejs default",
      `${plugin} default`,
      `serverless-compute:index:Template a of ${plugin} default`,
      "pulumi:providers:pulumi-nodejs default_3_248_0",
      `serverless-compute:index:Secret b of ${plugin} default`,
    ]);
  });

  it("leaves dynamic resources of other packages with their provider", () => {
    const plugin = "pulumi:providers:serverless-compute";
    expect(
      moved([
        provider("west", { "serverless-compute:apiKey": "x", region: "w" }),
        object("serverless:Template", "a", "west"),
        object("other:Thing", "b", "west"),
        provider("default-east"),
        object("serverless:Template", "c", "default-east"),
      ]),
    ).toEqual([
      "pulumi:providers:pulumi-nodejs west",
      `${plugin} west`,
      `serverless-compute:index:Template a of ${plugin} west`,
      "pulumi-nodejs:dynamic/other:Thing b of pulumi:providers:pulumi-nodejs west",
      `${plugin} default-east`,
      `serverless-compute:index:Template c of ${plugin} default-east`,
    ]);
  });

  it("removes internal properties and keeps the settings of an explicit provider", () => {
    const internal = { inputs: { a: 1, __provider: "text" }, outputs: { a: 1, __provider: "text", b: 2 } };
    const resources = [
      provider("west", { "serverless-compute:baseUrl": "http://a" }),
      object("serverless:Template", "a", "west", internal),
    ];
    const { text, moved: count } = moveState(JSON.stringify({ version: 3, deployment: { resources } }));
    expect(count).toBe(1);
    expect(JSON.parse(text).deployment.resources).toMatchObject([
      { id: "id-of-west", inputs: { baseUrl: "http://a" } },
      { id: "a", inputs: { a: 1 }, outputs: { a: 1, b: 2 } },
    ]);
    expect(text).not.toContain("__");
  });

  it("keeps the record of defaults, so that drift of a property set to its default is reported", async () => {
    const { inputs } = Template.check({}, { imageName: "a:1", containerDiskInGb: 50 }, naming("chat"));
    const { id, outputs } = await Template.create(inputs, bench.context());
    expectResponse(await bench.rest("PATCH", `/templates/${id}`, { containerDiskInGb: 60 }), 200);
    const resources = [provider("default"), object("serverless:Template", "chat", "default", { inputs, outputs })];
    const { text } = moveState(JSON.stringify({ version: 3, deployment: { resources } }));
    const olds = JSON.parse(text).deployment.resources.at(-1).outputs;
    expect((await Template.read(id, olds, bench.context()))?.inputs).toMatchObject({ containerDiskInGb: 60 });
  });
});
