import { beforeEach, describe, expect, test } from "vitest";
import { containerFields } from "../../../../service/resources/container";
import { useResources } from "./resources-rig";

let resources: ReturnType<typeof useResources>;
beforeEach(() => {
  resources = useResources();
});

const template = (env: Record<string, string> = {}) => resources.template({ env });

/** Records all notifications in order, with the value that a listener reads at that moment. */
function listen(): unknown[] {
  const notifications: unknown[] = [];
  const { events } = resources;
  events.on("endpointCreated", (id) => notifications.push(["created", resources.lookup.get(id)?.workersMax]));
  events.on("endpointChanged", (id, { workersRestart }) =>
    notifications.push(["changed", resources.lookup.get(id)?.workersMax, workersRestart]),
  );
  events.on("endpointDeleted", (id) => notifications.push(["deleted", resources.lookup.get(id)]));
  return notifications;
}

describe("an invalid environment is reported before a process is started, without its value", () => {
  test.each([
    [{ TOKEN: "hush\u0000" }, 'env.TOKEN of endpoint "e" contains a null character'],
    [{ "TO\u0000KEN": "hush" }, 'env.TO\\u0000KEN of endpoint "e" contains a null character'],
  ])("%j", (env, reported) => {
    const { id } = resources.endpoints.create({ name: "e", templateId: template(env) });
    const read = () => resources.lookup.workerEnvironment(id);
    expect(read).toThrow(reported);
    expect(read).not.toThrow("hush");
  });
});

describe("the job path is notified of changes once they are stored", () => {
  test("and reads the new values in the notification", () => {
    const notifications = listen();
    const { id } = resources.endpoints.create({ templateId: template(), workersMax: 1 });
    resources.endpoints.update(id, { workersMax: 2 });
    resources.endpoints.remove(id, { needsScaleDown: false });
    expect(notifications).toEqual([
      ["created", 1],
      ["changed", 2, false],
      ["deleted", undefined],
    ]);
  });

  test("and not of a rejected or rolled back change", () => {
    const { id } = resources.endpoints.create({ templateId: template(), workersMax: 1 });
    const notifications = listen();
    expect(() => resources.endpoints.update(id, { workersMax: -1 })).toThrow("workersMax");
    expect(() =>
      resources.transaction(() => {
        resources.endpoints.update(id, { workersMax: 9 });
        throw new Error("another part failed");
      }),
    ).toThrow("another part failed");
    expect(notifications).toEqual([]);
    expect(resources.lookup.get(id)?.workersMax).toBe(1);
  });

  test("and reads everything that one commit changed, in any order of listeners", () => {
    const templateId = template();
    const ids = [resources.endpoints.create({ templateId }).id, resources.endpoints.create({ templateId }).id];
    const versions = () => ids.map((id) => resources.lookup.get(id)?.version);
    expect(versions()).toEqual([1, 1]);
    const notifications: unknown[] = [];
    resources.events.prependListener("endpointChanged", () => notifications.push(versions()));
    resources.templates.update(templateId, { imageName: "acme/chat:2" });
    expect(notifications).toEqual([
      [2, 2],
      [2, 2],
    ]);
  });

  test("with workersRestart for outdated workers; the version counts changes of the template and the environment", () => {
    const [first, second] = [template(), template()];
    const { id } = resources.endpoints.create({ templateId: first });
    const notifications: unknown[] = [];
    resources.events.on("endpointChanged", (_id, { workersRestart }) =>
      notifications.push([resources.lookup.get(id)?.version, workersRestart]),
    );
    const update = (change: object) => resources.endpoints.update(id, change);
    update({ gpuTypeIds: ["NVIDIA L4"] });
    update({ networkVolumeId: resources.volume() });
    update({ env: { A: "1" } });
    resources.templates.update(first, { imageName: "acme/chat:2" });
    resources.templates.update(first, { readme: "nothing that workers run", name: "renamed" });
    update({ idleTimeout: 60, scalerValue: 9, workersMax: 4, name: "renamed" });
    update({ templateId: second });
    resources.templates.update(first, { imageName: "acme/chat:3" });
    update({});
    expect(notifications).toEqual([
      [1, true],
      [1, true],
      [2, true],
      [3, true],
      [3, false],
      [4, true],
      [4, false],
    ]);
    const image = { field: "template.imageName", old: "acme/chat:1", new: "acme/chat:2" };
    const variables = { field: "template.env", old: [], new: ["A"] };
    const back = { ...image, old: image.new, new: image.old };
    expect(resources.releases(id).map(({ diff }) => diff)).toEqual([[back], [image], [variables], []]);
    expect(resources.lookup.rolledBack(id)).toEqual([3]);
  });

  test.each(containerFields.filter((field) => field !== "imageName"))(
    "a previous image with another %s is a version of its own, not a rollback",
    (field) => {
      const before = { containerDiskInGb: 5, volumeInGb: 0 };
      const changes = {
        dockerArgs: "python3 h.py",
        containerDiskInGb: 6,
        ports: "80/http",
        env: { B: "2" },
        containerRegistryAuthId: resources.registryAuths.create({ name: field, username: "me", password: "hush" }).id,
        startScript: "true",
        volumeInGb: 20,
        volumeMountPath: "/models",
      };
      const templateId = resources.template({ ...before, imageName: "acme/chat:1", isServerless: false });
      const { id } = resources.endpoints.create({ templateId });
      resources.templates.update(templateId, { imageName: "acme/chat:2" });
      resources.templates.update(templateId, { imageName: "acme/chat:1", [field]: changes[field] });
      expect(resources.lookup.rolledBack(id)).toEqual([]);
      const fields = resources.releases(id)[0]?.diff.map((change) => change.field);
      expect(fields).toEqual(["template.imageName", `template.${field}`]);
      resources.templates.update(templateId, { [field]: null, ...before });
      expect(resources.lookup.rolledBack(id)).toEqual([3, 2]);
    },
  );
});

describe("the environment of a worker", () => {
  test("merges the endpoint's over the template's variables and resolves secrets", () => {
    resources.secrets.create({ name: "hub.token", value: "hush" });
    const templateId = template({
      HUB: "Bearer {{ RUNPOD_SECRET_hub.token }}",
      TIGHT: "{{RUNPOD_SECRET_hub.token}}",
      MODEL: "small",
      BRACES: "{{ OTHER }}",
    });
    const { id } = resources.endpoints.create({ templateId, env: { MODEL: "large" } });
    expect(resources.lookup.workerEnvironment(id)).toMatchObject({
      image: "acme/chat:1",
      dockerArgs: "",
      env: { HUB: "Bearer hush", TIGHT: "hush", MODEL: "large", BRACES: "{{ OTHER }}" },
      secretValues: ["hush"],
    });
  });

  test("contains credentials, volume, GPUs and CPUs for containers", () => {
    const auth = resources.registryAuths.create({ name: "hub", username: "me", password: "hush" });
    const volume = resources.volume();
    const start = { dockerArgs: '{"entrypoint":["/start"]}', containerRegistryAuthId: auth.id };
    const templateId = resources.template({ containerDiskInGb: 7, volumeMountPath: "/models", ...start });
    const needsOf = (fields: object) => {
      const { id } = resources.endpoints.create({ templateId, ...fields });
      return resources.lookup.workerEnvironment(id).container;
    };
    expect(needsOf({ networkVolumeId: volume, gpuCount: 2 })).toEqual({
      entrypoint: ["/start"],
      registryAuth: { username: "me", password: "hush" },
      diskInGb: 7,
      volumeId: volume,
      volumeSizeInGb: 10,
      mountPaths: ["/runpod-volume", "/models"],
      gpus: 2,
      gpuTypeIds: [],
      dataCenterIds: ["EU-RO-1"],
      cpu: undefined,
    });
    const noVolume = { volumeId: undefined, volumeSizeInGb: 0, dataCenterIds: [] };
    const cpu = (vcpus: number, memoryInGb: number) => ({ ...noVolume, gpus: 0, cpu: { vcpus, memoryInGb } });
    expect(needsOf({ computeType: "CPU", vcpuCount: 4, cpuFlavorIds: ["cpu3g"] })).toMatchObject(cpu(4, 16));
    expect(needsOf({ computeType: "CPU" })).toMatchObject(cpu(2, 4));
    expect(needsOf({ computeType: "CPU", instanceIds: ["cpu5c-8-32"] })).toMatchObject(cpu(8, 32));
  });

  test("keeps its variables when another part of the container changes, in a copy if the template is the user's", () => {
    const { endpointContainers, endpoints, templates, lookup } = resources;
    const container = { imageName: "acme/chat:1", containerDiskInGb: 5, env: { A: "1" } };
    const own = endpointContainers.create({ name: "own" }, { ...container, env: { A: "1", B: "2" } }, undefined);
    const user = endpoints.create({ name: "user", templateId: resources.template(container), env: { B: "2" } });
    for (const { id, templateId } of [own, user]) {
      const changed = endpointContainers.update(id, {}, { imageName: "acme/chat:2" }, undefined);
      expect(lookup.workerEnvironment(id)).toMatchObject({ image: "acme/chat:2", env: { A: "1", B: "2" } });
      expect(templates.get(changed.templateId)).toMatchObject({ isServerless: true, boundEndpointId: id });
      expect(templates.get(templateId).imageName).toBe(id === own.id ? "acme/chat:2" : "acme/chat:1");
    }
  });

  test("contains dockerArgs in JSON as a command line", () => {
    const dockerArgs = JSON.stringify({ cmd: ["--say", "it's a b"], entrypoint: ["/start"] });
    const { id } = resources.endpoints.create({ templateId: resources.template({ dockerArgs }) });
    expect(resources.lookup.workerEnvironment(id).dockerArgs).toBe("--say 'it'\\''s a b'");
  });

  test("contains a secret's current value", () => {
    const secret = resources.secrets.create({ name: "token", value: "old" });
    const { id } = resources.endpoints.create({ templateId: template({ T: "{{ RUNPOD_SECRET_token }}" }) });
    expect(resources.lookup.workerEnvironment(id).env).toEqual({ T: "old" });
    resources.secrets.updateValue({ id: secret.id, value: "$& and $1" });
    expect(resources.lookup.workerEnvironment(id).env).toEqual({ T: "$& and $1" });
    expect(resources.lookup.secretValues(id)).toEqual(["$& and $1"]);
  });

  test("fails for a reference without a secret, with an error that names both", () => {
    const templateId = template({ HUB_TOKEN: "{{ RUNPOD_SECRET_gone }}" });
    const { id } = resources.endpoints.create({ name: "chat-dev", templateId });
    expect(() => resources.lookup.workerEnvironment(id)).toThrow(
      'env.HUB_TOKEN of endpoint "chat-dev" refers to the secret "gone", which does not exist',
    );
    expect(resources.lookup.secretValues(id)).toEqual([]);
  });

  test("fails for a deleted endpoint", () => {
    for (const read of [resources.lookup.workerEnvironment, resources.endpoints.get])
      expect(() => read("nosuch")).toThrow('endpoint "nosuch" not found');
    expect(resources.lookup.secretValues("nosuch")).toEqual([]);
  });
});
