import { networkInterfaces } from "node:os";
import { StartError } from "serverless-compute-local";
import { expect, onTestFinished, test, vi } from "vitest";
import { apiKey, useLocalService } from "../../../support/local-service";
import { getWithHost, send } from "../../../support/raw-http";
import { useDockerEngine } from "../workers/support/docker-engine";

test("every API and the worker channel reject a host that is not allowed before they check the key; an allowed host requires the key", async () => {
  const { service } = await useLocalService({ host: "0.0.0.0", allowHosts: ["Serverless-Compute"] });
  const { port } = new URL(service.serverlessUrl);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  for (const path of [
    "/v1/endpoints",
    "/v2/serverless",
    "/v2/some/health",
    "/v2/some/ping/me",
    "/graphql",
    "/nowhere",
  ]) {
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "serverless-compute.evil.example",
      "127.0.0.1.evil.example",
    ]) {
      const { status, text } = await getWithHost(service.serverlessUrl + path, host, headers);
      expect([path, host, status]).toEqual([path, host, 421]);
      expect(text).toContain("--allow-host");
    }
  }
  for (const host of [`serverless-compute:${port}`, "serverless-compute", `localhost:${port}`, `127.0.0.1:${port}`])
    expect(await getWithHost(`${service.baseUrl}/endpoints`, host, headers), host).toMatchObject({ status: 200 });
  for (const path of ["/v1/endpoints", "/v2/some/health"])
    expect(await getWithHost(service.serverlessUrl + path, "serverless-compute"), path).toMatchObject({ status: 401 });
});

test("a service on all addresses is reachable from outside; a service on loopback is not", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const outside = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.2";
  const [all, loopback] = [
    await useLocalService({ host: "0.0.0.0", allowHosts: [outside] }),
    await useLocalService({}),
  ];
  const at = ({ service }: typeof all) => `http://${outside}:${new URL(service.serverlessUrl).port}/v1/endpoints`;
  expect(await getWithHost(at(all), outside)).toMatchObject({ status: 401 });
  await expect(getWithHost(at(loopback), outside)).rejects.toThrow("ECONNREFUSED");
});

test("the listener for containers rejects requests of users, and closes with the service", async () => {
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
  await rig.stop();
  await expect(to("health")).rejects.toThrow();
});

test("on port 80, which URLs omit, all addresses have the port; a user who may not listen on it gets a StartError", async () => {
  const started = await useLocalService({ host: "127.0.0.2", port: 80 }).catch((error: unknown) => {
    if (error instanceof StartError) return error;
    throw error;
  });
  if (started instanceof StartError) return expect(started.message).toContain("port 80 on 127.0.0.2");
  const { serverlessUrl, baseUrl } = started.service;
  expect([serverlessUrl, baseUrl]).toEqual(["http://127.0.0.2:80", "http://127.0.0.2:80/v1"]);
  expect(await send("GET", `${serverlessUrl}/healthz`)).toMatchObject({ status: 200 });
});

test.each(["::1%lo", "fe80::1%eth0"])("the host %s is rejected, because no URL can contain its zone", async (host) => {
  await expect(useLocalService({ host, allowHosts: ["service"] })).rejects.toThrow(/^host: .* without a zone/);
});
