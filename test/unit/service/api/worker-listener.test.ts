import { expect, onTestFinished, test, vi } from "vitest";
import { apiKey, useLocalService } from "../../../support/local-service";
import { send } from "../../../support/raw-http";
import { useDockerEngine } from "../workers/support/docker-engine";

test("the listener for containers rejects requests of users", async () => {
  const created: string[] = [];
  const port = await useDockerEngine((body) => {
    created.push(body);
    return { status: 201, json: { Id: "c1" } };
  });
  vi.stubEnv("DOCKER_HOST", `tcp://127.0.0.1:${port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const rig = await useLocalService({ runtime: "docker" });
  const jobs = await rig.jobsOn("acme/echo:1");
  await jobs.submit({});
  await expect.poll(() => created.length).toBeGreaterThan(0);
  const [, listener] = /RUNPOD_WEBHOOK_GET_JOB=http:\/\/[^:]+:(\d+)\//.exec(created[0] ?? "") ?? [];
  const to = (path: string, text?: string) =>
    send(text === undefined ? "GET" : "POST", `http://127.0.0.1:${listener}/v2/${jobs.id}/${path}`, {
      key: apiKey,
      ...(text === undefined ? {} : { text }),
    });
  const responses = [await to("run", '{"input":{}}'), await to("status/none"), await to("health")];
  expect(responses.map(({ status, text }) => [status, text.includes("route ")])).toEqual(Array(3).fill([404, true]));
});
