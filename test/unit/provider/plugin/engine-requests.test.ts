import { beforeEach, describe, expect, it } from "vitest";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { createHost } from "../../../../provider/process/host";
import { autonamingDisabled, diffKinds } from "../../../../provider/protocol/messages";
import { kinds } from "../../../../provider/resources";
import { startRig } from "../../../support/client-rig";
import { json } from "../../../support/faulty-server";
import { sent } from "../../../support/property-sets";
import { boxLifecycle } from "../dynamic/box";

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::lunch`;

/** Timeouts that the verbs of a box receive, in ms. */
const timeouts: unknown[] = [];
let calls: ReturnType<typeof resourceCalls>;
beforeEach(async () => {
  timeouts.length = 0;
  const { clients, clock } = await startRig([json({})], {});
  const host = createHost(() => undefined);
  const box = boxLifecycle({
    create: async (inputs, { timeout }) => {
      timeouts.push(timeout);
      return { id: "box-1", outputs: inputs };
    },
    update: async (_id, _olds, news, { timeout }) => {
      timeouts.push(timeout);
      return news;
    },
    delete: async (_id, _olds, { timeout }) => void timeouts.push(timeout),
  });
  const connect = () => ({ clients, settings: { templateReleaseLimit: 1 } });
  calls = resourceCalls({ ...host, clock, connect }, { ...kinds, Box: box });
});

describe("a name", () => {
  const checked = (olds: object, autonaming?: { proposedName: string; mode: number }) =>
    calls.check({
      urn: urnOf("Template"),
      olds: sent(olds),
      news: sent({ imageName: "a:1" }),
      randomSeed: undefined,
      autonaming,
    });

  it("follows the stack's autonaming and does not change later", async () => {
    const autonaming = { proposedName: "lunch-x7k2p", mode: 0 };
    expect((await checked({}, autonaming)).inputs?.properties["name"]).toBe("lunch-x7k2p");
    const olds = { name: "lunch-a1b2c", imageName: "a:1" };
    expect((await checked(olds, autonaming)).inputs?.properties["name"]).toBe("lunch-a1b2c");
  });

  it("is required if autonaming is disabled", async () => {
    const { failures = [] } = await checked({}, { proposedName: "", mode: autonamingDisabled });
    expect(failures.map(({ property, reason }) => `${property}: ${reason}`)).toEqual(["name: is required"]);
  });
});

it("lets the engine print no value of a secret input that is absent here, as with ignoreChanges", async () => {
  const urn = urnOf("Secret");
  const nothing = { randomSeed: undefined, autonaming: undefined };
  const { failures } = await calls.check({ urn, olds: sent({}), news: sent({ name: "token" }), ...nothing });
  expect(failures).toEqual([{ property: '["value"]', reason: "is required" }]);
});

it("passes customTimeouts (in seconds, 0 for none) to each verb", async () => {
  const properties = sent({ size: 1 });
  const same = { urn: urnOf("Box"), preview: false };
  await calls.create({ ...same, properties, timeout: 1.5 });
  await calls.update({ ...same, id: "box-1", olds: properties, news: sent({ size: 2 }), timeout: 2 });
  await calls.delete({ urn: urnOf("Box"), id: "box-1", properties, timeout: 0 });
  expect(timeouts).toEqual([1500, 2000, undefined]);
});

describe("a diff", () => {
  const diffOf = async (kind: string, olds: object, news: object) => {
    // The engine checks before it compares.
    calls.check({ urn: urnOf(kind), olds: sent(olds), news: sent(news), randomSeed: undefined, autonaming: undefined });
    const { detailedDiff, ...rest } = await calls.diff({
      id: "x",
      urn: urnOf(kind),
      olds: sent(olds),
      news: sent(news),
    });
    return {
      ...rest,
      detailedDiff: Object.fromEntries([...(detailedDiff ?? [])].map(([path, { kind: is }]) => [path, is])),
    };
  };

  it("contains each changed nested property by its path, and no others", async () => {
    const olds = { name: "chat", imageName: "a:1", env: { A: "1", B: "2", "with.dot": "x" } };
    const news = { name: "chat", imageName: "a:1", env: { A: "9", C: "3", "with.dot": "y" }, dockerArgs: "--with-c" };
    const { detailedDiff, replaces, stables } = await diffOf("Template", olds, news);
    expect(detailedDiff).toEqual({
      dockerArgs: diffKinds.update[0],
      "env.A": diffKinds.update[0],
      "env.B": diffKinds.delete[0],
      "env.C": diffKinds.add[0],
      'env["with.dot"]': diffKinds.update[0],
    });
    expect(replaces).toEqual([]);
    expect(stables).toEqual(["name", "imageName"]);
  });

  it("marks properties that force a replacement, and deletes first if a unique name stays", async () => {
    const olds = { name: "chat", imageName: "a:1", isServerless: true };
    const replaced = await diffOf("Template", olds, { ...olds, isServerless: false });
    expect(replaced).toMatchObject({
      detailedDiff: { isServerless: diffKinds.update[1] },
      replaces: ["isServerless"],
      deleteBeforeReplace: true,
    });
    const renamed = await diffOf("Template", olds, { ...olds, name: "chat-2", isServerless: false });
    expect(renamed).toMatchObject({ deleteBeforeReplace: false });
  });
});
