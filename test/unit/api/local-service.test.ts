import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClients } from "serverless-compute-api";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiErrorOf } from "../../support/client-rig";
import { templateInput } from "../../support/records";
import { discardServiceFolder } from "../../support/service-artefacts";

let service: Service;
let folder: string;
let clients: ReturnType<typeof createClients>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clients-"));
  service = await createService({ port: 0, dataFolder: folder, templateRelease: 0, deleteNeedsScaleDown: true });
  clients = createClients(service);
});

afterAll(async () => {
  await clients?.close();
  await service?.stop(0);
  await discardServiceFolder(folder);
});

test("the whole life of an endpoint with its template, volume and secret", async () => {
  const { management } = clients;
  const secret = await management.createSecret({ name: "hub", value: "quiet" });
  await management.updateSecretValue({ id: secret.id, value: "quieter" });
  await management.updateSecretDescription({ id: secret.id, description: "for the hub" });
  expect(await management.listSecrets()).toMatchObject([{ id: secret.id, name: "hub", description: "for the hub" }]);

  const made = await management.createTemplate({ ...templateInput, isServerless: true });
  expect(made).toMatchObject({ name: "chat-dev", env: { MODEL: "mistral-7b" }, isServerless: true });
  const changed = await management.updateTemplate(made.id, { imageName: "chat:2" });
  expect(changed).toMatchObject({ id: made.id, imageName: "chat:2" });
  expect(await management.readTemplate(made.id)).toEqual(changed);
  expect(await management.listTemplates()).toEqual([changed]);

  const volume = await management.createNetworkVolume({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
  expect(await management.updateNetworkVolume(volume.id, { size: 20 })).toMatchObject({ id: volume.id, size: 20 });
  expect(await management.readNetworkVolume(volume.id)).toMatchObject({ size: 20 });
  expect(await management.listNetworkVolumes()).toHaveLength(1);

  const endpoint = await management.createEndpoint({
    name: "chat",
    templateId: made.id,
    networkVolumeId: volume.id,
    workersMax: 1,
  });
  expect(await management.updateEndpoint(endpoint.id, { idleTimeout: 9 })).toMatchObject({ idleTimeout: 9 });
  expect(await management.readEndpoint(endpoint.id)).toMatchObject({ name: "chat", networkVolumeId: volume.id });
  expect(await management.listEndpoints()).toHaveLength(1);

  expect(await apiErrorOf(management.deleteTemplate(made))).toMatchObject({ category: "inUse", code: "in_use" });
  expect(await apiErrorOf(management.deleteNetworkVolume(volume.id))).toMatchObject({ category: "inUse" });
  expect(await apiErrorOf(management.deleteEndpoint(endpoint.id))).toMatchObject({
    category: "inUse",
    code: "endpoint_has_workers",
  });
  await management.updateEndpoint(endpoint.id, { workersMin: 0, workersMax: 0 });
  await management.deleteEndpoint(endpoint.id);
  await management.deleteTemplate(made);
  await management.deleteNetworkVolume(volume.id);
  await management.deleteSecret(secret.id);
});

test("what is absent is missing, or undefined to a read", async () => {
  const { management } = clients;
  expect(await management.readEndpoint("nosuchendpoint")).toBeUndefined();
  expect(await management.readNetworkVolume("nosuchvolume")).toBeUndefined();
  expect(await management.readTemplate("nosuchtemplate")).toBeUndefined();
  const calls = [
    management.updateEndpoint("nosuchendpoint", { workersMax: 1 }),
    management.deleteEndpoint("nosuchendpoint"),
    management.deleteNetworkVolume("nosuchvolume"),
    management.deleteTemplate({ id: "nosuchid", name: "nosuchtemplate" }),
    management.updateTemplate("nosuchtemplate", { readme: "x" }),
    management.deleteSecret("nosuchsecret"),
    management.updateSecretValue({ id: "nosuchsecret", value: "v" }),
  ].map(apiErrorOf);
  for (const error of calls) expect(await error).toMatchObject({ category: "missing", ambiguous: false });
});

test("what a body refers to and is absent is invalid", async () => {
  const { management } = clients;
  const made = await management.createTemplate({ ...templateInput, name: "refers", isServerless: true });
  const lost = await apiErrorOf(
    management.createEndpoint({ templateId: made.id, name: "x", networkVolumeId: "nosuch" }),
  );
  expect(lost).toMatchObject({ category: "invalid", code: "reference_not_found" });
  await management.deleteTemplate(made);
});

test("a taken name is a conflict", async () => {
  const { management } = clients;
  await management.createTemplate({ ...templateInput, name: "taken", isServerless: true });
  await management.createSecret({ name: "taken", value: "v" });
  const template = await apiErrorOf(management.createTemplate({ ...templateInput, name: "taken", isServerless: true }));
  const secret = await apiErrorOf(management.createSecret({ name: "taken", value: "v" }));
  for (const error of [template, secret]) expect(error).toMatchObject({ category: "conflict", code: "duplicate_name" });
});

test("a wrong key is told as such, and a wrong path is no absent object", async () => {
  const stranger = createClients({ ...service, apiKey: "sck_wrong_wrong" });
  const calls = [stranger.management.listEndpoints(), stranger.management.listSecrets()];
  for (const call of calls) expect(await apiErrorOf(call)).toMatchObject({ category: "auth", retryable: false });
  await stranger.close();

  const astray = createClients({
    ...service,
    baseUrl: `${service.serverlessUrl}/v9`,
    graphqlUrl: `${service.serverlessUrl}/x`,
  });
  const lost = [astray.management.readEndpoint("x"), astray.management.readTemplate("x")];
  for (const call of lost) expect(await apiErrorOf(call)).toMatchObject({ code: "wrong_address" });
  await astray.close();
});
