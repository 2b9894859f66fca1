import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManagementEvents, type ManagementEvents } from "../../../../service/management/events";
import { createManagement, type Management } from "../../../../service/management/management";
import { type Database, openDatabase } from "../../../../service/store/database";
import { ManualClock } from "../../../support/manual-clock";

let folder: string;
let database: Database;
let events: ManagementEvents;
let management: Management;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lookup-"));
  database = openDatabase(folder);
  events = createManagementEvents();
  management = createManagement({ database, clock: new ManualClock(), templateRelease: 0, events });
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const template = (env: Record<string, string> = {}) =>
  management.templates.create({ name: "chat", imageName: "acme/chat:1", containerDiskInGb: 5, volumeInGb: 0, env }).id;

/** Everything that was said, in order, with what a listener reads at that moment. */
function listen(): unknown[] {
  const heard: unknown[] = [];
  events.on("endpointCreated", (id) => heard.push(["created", management.lookup.get(id)?.workersMax]));
  events.on("endpointChanged", (id, { workersRestart }) =>
    heard.push(["changed", management.lookup.get(id)?.workersMax, workersRestart]),
  );
  events.on("endpointDeleted", (id) => heard.push(["deleted", management.lookup.get(id)]));
  return heard;
}

describe("what no process can have is told before one is started, without its value", () => {
  test.each([
    [{ TOKEN: "hush\u0000" }, 'env.TOKEN of endpoint "e" holds a null character'],
    [{ "TO\u0000KEN": "hush" }, 'env.TO\\u0000KEN of endpoint "e" holds a null character'],
  ])("%j", (env, told) => {
    const { id } = management.endpoints.create({ name: "e", templateId: template(env) });
    const read = () => management.lookup.workerEnvironment(id);
    expect(read).toThrow(told);
    expect(read).not.toThrow("hush");
  });
});

describe("the job path hears of changes once they are in the store", () => {
  test("and reads the new values then", () => {
    const heard = listen();
    const { id } = management.endpoints.create({ templateId: template(), workersMax: 1 });
    management.endpoints.update(id, { workersMax: 2 });
    management.endpoints.remove(id, { needsScaleDown: false });
    expect(heard).toEqual([
      ["created", 1],
      ["changed", 2, false],
      ["deleted", undefined],
    ]);
  });

  test("and hears nothing of a change that was refused or rolled back", () => {
    const { id } = management.endpoints.create({ templateId: template(), workersMax: 1 });
    const heard = listen();
    expect(() => management.endpoints.update(id, { workersMax: -1 })).toThrow("workersMax");
    expect(() =>
      management.transaction(() => {
        management.endpoints.update(id, { workersMax: 9 });
        throw new Error("another part failed");
      }),
    ).toThrow("another part failed");
    expect(heard).toEqual([]);
    expect(management.lookup.get(id)?.workersMax).toBe(1);
  });

  test("with workersRestart when GPU types, volumes, template, environment or the template's content change", () => {
    const first = template();
    const { id } = management.endpoints.create({ templateId: first });
    const volume = management.volumes.create({ name: "v", size: 1, dataCenterId: "EU-RO-1" }).id;
    const heard = listen();
    management.endpoints.update(id, { gpuTypeIds: ["NVIDIA L4"] });
    management.endpoints.update(id, { networkVolumeId: volume });
    management.endpoints.update(id, { env: { A: "1" } });
    management.templates.update(first, { imageName: "acme/chat:2" });
    management.templates.update(first, { readme: "nothing that workers run" });
    management.endpoints.update(id, { idleTimeout: 60, scalerValue: 9 });
    const restarts = [true, true, true, true, false].map((restart) => ["changed", 3, restart]);
    expect(heard).toEqual(restarts);
  });
});

describe("what a worker is started with", () => {
  test("is the endpoint's environment over the template's, with secrets put in", () => {
    management.secrets.create({ name: "hub.token", value: "hush" });
    const templateId = template({
      HUB: "Bearer {{ RUNPOD_SECRET_hub.token }}",
      TIGHT: "{{RUNPOD_SECRET_hub.token}}",
      MODEL: "small",
      BRACES: "{{ OTHER }}",
    });
    const { id } = management.endpoints.create({ templateId, env: { MODEL: "large" } });
    expect(management.lookup.workerEnvironment(id)).toEqual({
      image: "acme/chat:1",
      dockerArgs: "",
      env: { HUB: "Bearer hush", TIGHT: "hush", MODEL: "large", BRACES: "{{ OTHER }}" },
      secretValues: ["hush"],
    });
  });

  test("has the value that a secret has at that moment", () => {
    const secret = management.secrets.create({ name: "token", value: "old" });
    const { id } = management.endpoints.create({ templateId: template({ T: "{{ RUNPOD_SECRET_token }}" }) });
    expect(management.lookup.workerEnvironment(id).env).toEqual({ T: "old" });
    management.secrets.updateValue({ id: secret.id, value: "$& and $1" });
    expect(management.lookup.workerEnvironment(id).env).toEqual({ T: "$& and $1" });
  });

  test("cannot be told when a reference has no secret, and the error names both", () => {
    const templateId = template({ HUB_TOKEN: "{{ RUNPOD_SECRET_gone }}" });
    const { id } = management.endpoints.create({ name: "chat-dev", templateId });
    expect(() => management.lookup.workerEnvironment(id)).toThrow(
      'env.HUB_TOKEN of endpoint "chat-dev" refers to the secret "gone", which does not exist',
    );
  });

  test("cannot be told of an endpoint that is gone", () => {
    expect(() => management.lookup.workerEnvironment("nosuch")).toThrow('endpoint "nosuch" not found');
  });
});
