import { join } from "node:path";
import { expect, test } from "vitest";
import { at, expectResponse, type RawResponse, send, stringAt } from "../../../support/raw-http";
import { type StartedService, startService, useFolder } from "./command";

const folder = useFolder();

const rest = (
  { addresses, apiKey }: StartedService,
  method: string,
  path: string,
  json?: unknown,
): Promise<RawResponse> => send(method, `${addresses.baseUrl}${path}`, { key: apiKey, json });
const graphql = ({ addresses, apiKey }: StartedService, query: string): Promise<RawResponse> =>
  send("POST", addresses.graphqlUrl, { key: apiKey, json: { query } });

/** Creates volumes until the service ends; returns the ids of the acknowledged volumes. */
async function writeVolumes(service: StartedService): Promise<string[]> {
  const body = { name: "v", size: 1, dataCenterId: "EU-RO-1" };
  const ids: string[] = [];
  for (;;) {
    const response = await rest(service, "POST", "/networkvolumes", body).catch(() => undefined);
    if (response?.status !== 200) return ids;
    ids.push(stringAt(response, "id"));
  }
}

test("every acknowledged object survives a kill -9 during many writes, and the key does not change", async () => {
  const data = join(folder, "data");
  const before = await startService(data, "--template-release", "600");
  const templateId = stringAt(
    await rest(before, "POST", "/templates", { name: "chat", imageName: "x:1", isServerless: true }),
    "id",
  );
  const volumeId = stringAt(
    await rest(before, "POST", "/networkvolumes", { name: "v", size: 5, dataCenterId: "EU-RO-1" }),
    "id",
  );
  const body = { name: "chat", templateId, networkVolumeId: volumeId, workersMax: 0, gpuTypeIds: ["NVIDIA L4"] };
  const keptEndpoint = await rest(before, "POST", "/endpoints", body);
  const deletedId = stringAt(await rest(before, "POST", "/endpoints", { ...body, name: "gone" }), "id");
  await rest(before, "PATCH", `/templates/${templateId}`, { env: { A: "1" } });
  await graphql(before, 'mutation { secretCreate(input: {name: "token", value: "hush"}) { id } }');
  expectResponse(await rest(before, "DELETE", `/endpoints/${deletedId}`), 204);
  const writers = Array.from({ length: 8 }, () => writeVolumes(before));
  const listed = ({ json }: RawResponse): unknown[] =>
    Array.isArray(json) ? json.map((volume) => at(volume, "id")) : [];
  await expect.poll(async () => listed(await rest(before, "GET", "/networkvolumes")).length).toBeGreaterThan(200);
  before.child.kill("SIGKILL");
  await before.ended;
  const acknowledged = (await Promise.all(writers)).flat();

  const after = await startService(data, "--template-release", "600");
  const remaining = listed(await rest(after, "GET", "/networkvolumes"));
  expect(acknowledged.filter((id) => !remaining.includes(id))).toEqual([]);
  expect(after.apiKey).toBe(before.apiKey);
  const id = stringAt(keptEndpoint, "id");
  expectResponse(await rest(after, "GET", `/endpoints/${id}`), 200, { ...body, version: 2 });
  expectResponse(await rest(after, "GET", `/networkvolumes/${volumeId}`), 200, { size: 5 });
  expectResponse(await rest(after, "GET", `/endpoints/${deletedId}`), 404);
  const secrets = await graphql(after, "{ myself { secrets { name } } }");
  expect(at(secrets.json, "data", "myself", "secrets")).toEqual([{ name: "token" }]);
  // The deleted endpoint starts the release of the template, and this endpoint starts it again.
  const startTime = Date.now();
  await rest(after, "DELETE", `/endpoints/${id}`);
  const rejection = await rest(after, "DELETE", `/templates/${templateId}`);
  const [, seconds] = /can be deleted in (\d+) s/.exec(stringAt(rejection, "message")) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(Math.floor(600 - (Date.now() - startTime) / 1000));
}, 120_000);
