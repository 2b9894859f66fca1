import { beforeEach, describe, expect, test } from "vitest";
import { useResources } from "./resources-rig";

let resources: ReturnType<typeof useResources>;
beforeEach(() => {
  resources = useResources();
});

describe("registry credentials", () => {
  const create = (name = "hub") => resources.registryAuths.create({ name, username: "u", password: "p" });

  test("are replaced under the same id", () => {
    const { id } = create();
    expect(resources.registryAuths.update({ id, username: "v", password: "q" })).toEqual({ id, name: "hub" });
    expect(resources.registryAuths.credentialsOf(id)).toEqual({ username: "v", password: "q" });
    expect(() => resources.registryAuths.update({ id: "nosuch", username: "v", password: "q" })).toThrow("nosuch");
  });

  test("are removed from the templates that use them, and from no other", () => {
    const [deleted, kept] = [create().id, create("other").id];
    const templates = [deleted, kept].map((containerRegistryAuthId) => resources.template({ containerRegistryAuthId }));
    resources.registryAuths.remove(deleted);
    expect(resources.registryAuths.credentialsOf(deleted)).toBeUndefined();
    expect(templates.map((id) => resources.templates.get(id).containerRegistryAuthId)).toEqual([undefined, kept]);
  });
});

describe("a registry delegation", () => {
  const arn = "arn:aws:ecr:eu-west-1:123456789012:repository/";
  const stored = { awsUser: "123456789012", awsRegion: "eu-west-1", name: null };

  test.each([
    [`${arn}chat`, { repository: "chat", tag: "latest" }],
    [`${arn}acme/chat.v2:1.0_a`, { repository: "acme/chat.v2", tag: "1.0_a" }],
    [
      "arn:aws-cn:ecr:cn-north-1:123456789012:repository/a",
      { awsRegion: "cn-north-1", repository: "a", tag: "latest" },
    ],
  ])("of %s has the parts of the name", (resource, parts) => {
    const delegation = resources.delegations.create({ resource });
    expect(delegation).toMatchObject({ ...stored, ...parts, createdAt: resources.clock.now() });
    expect(resources.delegations.list()).toEqual([delegation]);
    resources.delegations.remove(delegation.id);
    expect(resources.delegations.list()).toEqual([]);
  });

  test.each([
    "chat",
    `x${arn}chat`,
    arn,
    `${arn}Chat`,
    `${arn}chat:`,
    `${arn}chat:a b`,
    "arn:aws:ecr:eu-west-1:12345678901:repository/chat",
    "arn:aws:s3:eu-west-1:123456789012:repository/chat",
  ])("of %s is rejected", (resource) => {
    expect(() => resources.delegations.create({ resource })).toThrow(
      `resource: ${JSON.stringify(resource)} is not allowed; must be arn:aws:ecr:<region>:<12-digit account>:repository/<name>`,
    );
  });

  test("may have a name, and an unknown one cannot be deleted", () => {
    expect(resources.delegations.create({ resource: `${arn}a`, name: "n" })).toMatchObject({ name: "n" });
    expect(() => resources.delegations.remove("nosuch")).toThrow('delegation "nosuch"');
  });
});
