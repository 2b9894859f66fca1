import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, at, expectAnswer, send, stringAt } from "../../../support/raw-http";
import { type StartedService, startService, useFolder } from "./command";

const folder = await useFolder();
const limit = 120_000;

const rest = ({ addresses, apiKey }: StartedService, method: string, path: string, json?: unknown): Promise<Answer> =>
  send(method, `${addresses.baseUrl}${path}`, { key: apiKey, json });
const graphql = ({ addresses, apiKey }: StartedService, query: string): Promise<Answer> =>
  send("POST", addresses.graphqlUrl, { key: apiKey, json: { query } });

async function killed(service: StartedService): Promise<void> {
  service.child.kill("SIGKILL");
  await service.ended;
}

test(
  "every acknowledged object survives kill -9, and the key stays the same",
  async () => {
    const data = join(folder, "whole");
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
    const kept = await rest(before, "POST", "/endpoints", body);
    const gone = stringAt(await rest(before, "POST", "/endpoints", { ...body, name: "gone" }), "id");
    await rest(before, "PATCH", `/templates/${templateId}`, { env: { A: "1" } });
    await graphql(before, 'mutation { secretCreate(input: {name: "token", value: "hush"}) { id } }');
    expectAnswer(await rest(before, "DELETE", `/endpoints/${gone}`), 204);
    await killed(before);

    const after = await startService(data, "--template-release", "600");
    expect(after.apiKey).toBe(before.apiKey);
    const id = stringAt(kept, "id");
    expectAnswer(await rest(after, "GET", `/endpoints/${id}`), 200, { ...body, version: 2 });
    expectAnswer(await rest(after, "GET", `/networkvolumes/${volumeId}`), 200, { size: 5 });
    expectAnswer(await rest(after, "GET", `/endpoints/${gone}`), 404);
    const secrets = await graphql(after, "{ myself { secrets { name } } }");
    expect(at(secrets.json, "data", "myself", "secrets")).toEqual([{ name: "token" }]);
    // The release clock was set by the deleted endpoint and again by this one.
    const since = Date.now();
    await rest(after, "DELETE", `/endpoints/${id}`);
    const refusal = await rest(after, "DELETE", `/templates/${templateId}`);
    const [, left] = /can be deleted in (\d+) s/.exec(stringAt(refusal, "message")) ?? [];
    expect(Number(left)).toBeGreaterThanOrEqual(Math.floor(600 - (Date.now() - since) / 1000));
    await killed(after);
  },
  limit,
);

test(
  "a kill -9 during many writes loses no acknowledged one",
  async () => {
    const data = join(folder, "storm");
    const first = await startService(data);
    const answered: string[] = [];
    let writing = true;
    const writer = async (): Promise<void> => {
      while (writing) {
        const body = { name: "v", size: 1, dataCenterId: "EU-RO-1" };
        const answer = await rest(first, "POST", "/networkvolumes", body).catch(() => undefined);
        if (answer?.status !== 200) return;
        answered.push(stringAt(answer, "id"));
      }
    };
    const writers = Array.from({ length: 8 }, writer);
    while (answered.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    await killed(first);
    writing = false;
    await Promise.all(writers);

    const second = await startService(data);
    const list = (await rest(second, "GET", "/networkvolumes")).json;
    const kept = new Set(Array.isArray(list) ? list.map((volume) => at(volume, "id")) : []);
    expect(answered.filter((id) => !kept.has(id))).toEqual([]);
    await killed(second);
  },
  limit,
);
