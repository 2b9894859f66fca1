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
