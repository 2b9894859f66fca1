import { describe, expect, test } from "vitest";
import { useResources } from "./resources-rig";

describe("a network volume", () => {
  test.each(["networkVolumeId", "networkVolumeIds"])("cannot be deleted while it is an endpoint's %s", (field) => {
    const { endpoints, volumes, template, volume } = useResources();
    const id = volume();
    const use = { [field]: field === "networkVolumeIds" ? [id] : id };
    const endpoint = endpoints.create({ name: "user-of-it", templateId: template(), ...use });
    expect(() => volumes.remove(id)).toThrow('in use by endpoint "user-of-it"');
    endpoints.remove(endpoint.id, { needsScaleDown: false });
    volumes.remove(id);
    expect(volumes.list()).toEqual([]);
  });

  test("cannot change its data centre, which may be repeated", () => {
    const { volumes, volume } = useResources();
    const id = volume();
    expect(() => volumes.update(id, { dataCenterId: "US-KS-2" })).toThrow(
      expect.objectContaining({ issues: [expect.objectContaining({ path: ["dataCenterId"], of: "volume" })] }),
    );
    expect(volumes.update(id, { dataCenterId: "EU-RO-1", size: 30 }).size).toBe(30);
  });
});

test("GraphQL's empty string removes a registry auth from a template", () => {
  const { registryAuths, templates, template } = useResources();
  const auth = registryAuths.create({ name: "hub", username: "reader", password: "hush-hush" }).id;
  const id = template({ containerRegistryAuthId: auth });
  expect(templates.update(id, { containerRegistryAuthId: "" }).containerRegistryAuthId).toBeUndefined();
});

/** Creates resources with a template whose only endpoint was just deleted. */
function justReleased() {
  const resources = useResources({ templateRelease: 120_000 });
  const { template, endpoints, templates } = resources;
  const id = template({ name: "base" });
  const use = (name: string): string => endpoints.create({ templateId: id, name }).id;
  const release = (endpointId: string): void => endpoints.remove(endpointId, { needsScaleDown: false });
  release(use("first"));
  return { ...resources, id, use, release, remove: () => templates.remove(id) };
}

describe("a template in use", () => {
  test("stays in use until the exact end of the release, and reports the remaining time", async () => {
    const { clock, remove, templates, id } = justReleased();
    expect(() => templates.removeByName("base")).toThrow(/still in use.* 0 s ago.* in 120 s/);
    await clock.advance(119_999);
    expect(remove).toThrow(/still in use.* 119 s ago.* in 1 s/);
    await clock.advance(1);
    remove();
    expect(templates.find(id)).toBeUndefined();
  });

  test("is released if the clock is set back, because the rest of its release is unknown", () => {
    const { clock, remove, templates, id } = justReleased();
    clock.change(-3_600_000);
    remove();
    expect(templates.find(id)).toBeUndefined();
  });

  test("is released after the last of several endpoints is deleted", async () => {
    const { clock, use, release, remove } = justReleased();
    const [second, last] = [use("second"), use("last")];
    release(second);
    await clock.advance(300_000);
    expect(remove).toThrow('endpoint "last"');
    release(last);
    expect(remove).toThrow("in 120 s");
  });

  test("keeps its release across a restart of the service", async () => {
    const { clock, reopen, id } = justReleased();
    await clock.advance(60_000);
    const { templates } = reopen();
    expect(() => templates.remove(id)).toThrow("in 60 s");
    await clock.advance(60_000);
    templates.remove(id);
  });

  test("is released after an endpoint changes to another template", async () => {
    const { clock, endpoints, template, use, remove } = justReleased();
    await clock.advance(120_000);
    endpoints.update(use("user"), { templateId: template() });
    expect(remove).toThrow("in 120 s");
  });
});

describe("the template of an endpoint's own container, which another endpoint uses", () => {
  type Resources = ReturnType<typeof useResources>;
  /** Creates the endpoint and the other endpoint. */
  function shared(resources: Resources) {
    const { endpointContainers, endpoints } = resources;
    const owner = endpointContainers.create({ name: "owner" }, { imageName: "a:1", containerDiskInGb: 5 }, undefined);
    const user = endpoints.create({ name: "user", templateId: owner.templateId });
    return { owner, user, id: owner.templateId };
  }
  const changes: [string, (resources: Resources, id: string) => void][] = [
    ["is deleted", ({ endpoints }, id) => endpoints.remove(id, { needsScaleDown: false })],
    ["gets another template", ({ endpoints, template }, id) => void endpoints.update(id, { templateId: template() })],
    [
      "is replaced with another template",
      ({ endpoints, template }, id) => void endpoints.replace(id, { name: "owner", templateId: template() }),
    ],
  ];

  test.each(changes)("becomes the user's when the endpoint %s", (_title, change) => {
    const resources = useResources();
    const { owner, user, id } = shared(resources);
    const { templates, endpoints } = resources;
    change(resources, owner.id);
    expect(templates.get(id)).not.toHaveProperty("boundEndpointId", owner.id);
    expect(templates.list().map((template) => template.id)).toContain(id);
    expect(endpoints.get(user.id).templateId).toBe(id);
    expect(() => templates.remove(id)).toThrow('in use by endpoint "user"');
    endpoints.remove(user.id, { needsScaleDown: false });
    templates.remove(id);
  });

  test.each(changes)("is deleted when the other endpoint stopped using it and the endpoint %s", (_title, change) => {
    const resources = useResources();
    const { owner, user, id } = shared(resources);
    resources.endpoints.remove(user.id, { needsScaleDown: false });
    change(resources, owner.id);
    expect(resources.templates.find(id)).toBeUndefined();
  });

  test("does not prevent another own container of the endpoint", () => {
    const resources = useResources();
    const { owner, id } = shared(resources);
    const { endpoints, endpointContainers, templates, template } = resources;
    endpoints.update(owner.id, { templateId: template() });
    const { templateId } = endpointContainers.update(owner.id, {}, { imageName: "b:1" }, undefined);
    expect(templates.get(templateId)).toMatchObject({ imageName: "b:1", boundEndpointId: owner.id });
    expect(templates.get(id).imageName).toBe("a:1");
  });
});
