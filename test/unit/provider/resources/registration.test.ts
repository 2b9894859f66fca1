import * as pulumi from "@pulumi/pulumi";
import {
  ContainerRegistryAuth,
  JobInvoke,
  NetworkVolume,
  Secret,
  ServerlessEndpoint,
  Template,
} from "pulumi-serverless-compute";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { propertyNames } from "../../../../provider/generated/property-names";
import { resourceArguments } from "../../../../provider/resources/resource-arguments";

/** Registrations sent to the engine, by resource name. */
const registered = new Map<string, pulumi.runtime.MockResourceArgs>();

class Group extends pulumi.ComponentResource {
  constructor(name: string) {
    super("my:index:Group", name);
  }
}

const urnOf = (resource: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => void resource.urn.apply(resolve));

async function inputsOf(resource: pulumi.Resource, name: string): Promise<Record<string, unknown>> {
  await urnOf(resource);
  const found: Record<string, unknown> = registered.get(name)?.inputs ?? {};
  return found;
}

beforeAll(async () => {
  await pulumi.runtime.setMocks(
    {
      newResource: (args) => {
        registered.set(args.name, args);
        return { id: `${args.name}-id`, state: args.inputs };
      },
      call: ({ inputs }) => inputs,
    },
    "shop",
    "dev",
  );
});
beforeEach(() => registered.clear());

/** A resource of each class. */
const classes: Record<string, () => pulumi.Resource> = {
  Template: () => new Template("a", { imageName: "i" }),
  ServerlessEndpoint: () => new ServerlessEndpoint("a", { templateId: "t" }),
  NetworkVolume: () => new NetworkVolume("a", { size: 1, dataCenterId: "EU-RO-1" }),
  Secret: () => new Secret("a", { value: "v" }),
  ContainerRegistryAuth: () => new ContainerRegistryAuth("a", { username: "u", password: "p" }),
  JobInvoke: () => new JobInvoke("a", { endpointId: "e", input: {} }),
};

describe("a class", () => {
  it("exists for every kind", () => {
    expect(Object.keys(classes).sort()).toEqual(Object.keys(propertyNames).sort());
  });

  // States contain the text and the type: a change of either would prevent the refresh and destroy of existing stacks.
  it.each(Object.entries(classes))(
    "%s registers under its frozen type, with its frozen text and its URN",
    async (kind, make) => {
      const resource = make();
      const inputs = await inputsOf(resource, "a");
      expect(registered.get("a")?.type).toBe(`pulumi-nodejs:dynamic/serverless:${kind}`);
      expect(inputs).toMatchObject({
        __provider: `exports.handler=()=>require("pulumi-serverless-compute/dynamic").provider("${kind}")`,
        __urn: await urnOf(resource),
      });
    },
  );

  it("computes its URN under a component without waiting for the component's other children", async () => {
    const child = new Template("child", { imageName: "i" }, { parent: new Group("group") });
    expect((await inputsOf(child, "child"))["__urn"]).toBe(
      "urn:pulumi:dev::shop::my:index:Group$pulumi-nodejs:dynamic/serverless:Template::child",
    );
  });

  it("forwards options that the engine does not forward", async () => {
    const opts = { customTimeouts: { delete: "5m" }, replaceOnChanges: ["env"] };
    expect(await inputsOf(new Template("slow", { imageName: "i" }, opts), "slow")).toMatchObject({
      __timeouts: { delete: "5m" },
      __replaceOnChanges: ["env"],
    });
  });

  it("applies transformations in a program's unit tests", async () => {
    const withReadme: pulumi.ResourceTransformation = ({ props, opts }) => ({ props: { ...props, readme: "r" }, opts });
    const template = new Template("transformed", { imageName: "i" }, { transformations: [withReadme] });
    expect(await inputsOf(template, "transformed")).toMatchObject({ imageName: "i", readme: "r" });
  });

  it("lists its secret inputs, including nested inputs, and omits an empty list", async () => {
    const input = { prompt: "ping", keys: [pulumi.secret("k"), Promise.resolve("p")], all: pulumi.output("o") };
    const job = new JobInvoke("job", { endpointId: pulumi.secret("e"), input });
    const open = new JobInvoke("open", { endpointId: "e", input: { prompt: "ping" } });
    expect((await inputsOf(job, "job"))["__secrets"]).toEqual([["endpointId"], ["input", "keys", "0"]]);
    expect(await inputsOf(open, "open")).not.toHaveProperty("__secrets");
  });

  it("makes the value of a Secret secret even if the program does not", async () => {
    const secret = new Secret("pin", { value: "4711" });
    expect(await pulumi.isSecret(secret.value)).toBe(true);
    expect((await inputsOf(secret, "pin"))["__secrets"]).toEqual([["value"]]);
  });

  it("has an output for every input, even for an omitted input", async () => {
    const template = new Template("defaults", { imageName: "i" });
    await urnOf(template);
    expect(pulumi.Output.isInstance(template.dockerArgs)).toBe(true);
    expect(pulumi.Output.isInstance(template.revision)).toBe(true);
  });

  it("rejects an input that the SDK would drop silently", () => {
    const args = { imageName: "i", id: "t" };
    expect(() => new Template("a", args)).toThrow('Template "a": "id" is not an input');
  });

  it("rejects a read with an empty id, which the SDK would treat as a create", () => {
    expect(() => new Template("a", { imageName: "i" }, { id: "" })).toThrow("the id of the resource to read is empty");
  });

  it("rejects an import, for which the engine would fail without a reason", () => {
    expect(() => new Template("a", { imageName: "i" }, { import: "t1" })).toThrow(
      'Template "a": import requires the plugin, because Pulumi imports no dynamic resources; use the plugin, or adoptExisting',
    );
  });
});

it("a resource with transforms passes the options and secrets after them to the provider process", async () => {
  const noChange: pulumi.ResourceTransform = async ({ props, opts }) => ({ props, opts });
  const own = { transforms: [noChange], replaceOnChanges: ["imageName"], customTimeouts: { update: "5m" } };
  const [, , , options] = resourceArguments("Template", "a", { imageName: "i" }, own);
  const record = options.transforms?.at(-1);
  const props = { imageName: "i", env: pulumi.secret({ A: "1" }), __replaceOnChanges: ["imageName"] };
  const recorded = async (opts: pulumi.CustomResourceOptions) =>
    (await record?.({ type: "t", name: "a", custom: true, props, opts }))?.props;
  // The engine passes empty lists and texts for options that are not set.
  expect(await recorded({ replaceOnChanges: [], customTimeouts: { update: "" } })).toEqual({
    ...props,
    __timeouts: undefined,
    __replaceOnChanges: undefined,
    __secrets: [["env"]],
  });
  expect(await recorded({ replaceOnChanges: ["env"], customTimeouts: { update: "90s" } })).toMatchObject({
    __timeouts: { update: "90s" },
    __replaceOnChanges: ["env"],
  });
});
