import { mkdtemp } from "node:fs/promises";
import { request } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { createService, type ServiceOptions, StartError } from "serverless-compute-local";
import { expect, onTestFinished, test } from "vitest";
import { discardServiceFolder } from "../../../support/service-artefacts";

async function useService(options: ServiceOptions) {
  const dataFolder = await mkdtemp(join(tmpdir(), "listening-"));
  // Registered first to run last: the folder is removed after the service, and also without one.
  onTestFinished(() => discardServiceFolder(dataFolder));
  const service = await createService({ port: 0, dataFolder, runtime: "none", ...options });
  onTestFinished(() => service.stop(0));
  return service;
}

/** The status of a request for a host, and its body. */
function ask(
  url: string,
  host: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...headers, host } }, async (response) => {
      let text = "";
      for await (const part of response) text += String(part);
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.once("error", reject).end();
  });
}

test.each([
  [{ host: "0.0.0.0" }, "host: 0.0.0.0 is reachable from other machines; name the service's host with --allow-host"],
  [{ host: "::" }, "host: :: is reachable from other machines"],
  [{ host: "192.0.2.1", allowHosts: [] }, "host: 192.0.2.1 is reachable from other machines"],
  [{ host: "localhost" }, 'host: "localhost" is not allowed, must be an IP address'],
  [
    { allowHosts: ["http://here"] },
    'allowHosts: "http://here" is not allowed, must be a host name or address without a port',
  ],
  [{ allowHosts: ["here:80"] }, 'allowHosts: "here:80" is not allowed'],
  [{ host: "192.0.2.1", allowHosts: ["here"] }, "host: 192.0.2.1 is not an address of this machine"],
  [{ apiKey: "short" }, "SERVERLESS_COMPUTE_LOCAL_API_KEY: must be 16 or more printable characters without spaces"],
])("%j is rejected with the next step", async (options, message) => {
  const refused = await useService(options).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StartError);
  expect(String(refused)).toContain(message);
  expect(String(refused)).not.toContain("short");
});

test("every API and the worker channel reject a host that is not allowed, before they check the key; an allowed host requires it", async () => {
  const service = await useService({ host: "0.0.0.0", allowHosts: ["Serverless-Compute"] });
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
      const { status, text } = await ask(service.serverlessUrl + path, host, headers);
      expect([path, host, status]).toEqual([path, host, 421]);
      expect(text).toContain("--allow-host");
    }
  }
  for (const host of [`serverless-compute:${port}`, "serverless-compute", `localhost:${port}`, `127.0.0.1:${port}`])
    expect(await ask(`${service.baseUrl}/endpoints`, host, headers), host).toMatchObject({ status: 200 });
  for (const path of ["/v1/endpoints", "/v2/some/health"])
    expect(await ask(service.serverlessUrl + path, "serverless-compute"), path).toMatchObject({ status: 401 });
});

test("a service on all addresses is reachable by them, one on loopback is not", async () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const outside = own.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.2";
  const [all, loopback] = [await useService({ host: "0.0.0.0", allowHosts: [outside] }), await useService({})];
  const at = (service: typeof all) => `http://${outside}:${new URL(service.serverlessUrl).port}/v1/endpoints`;
  expect(await ask(at(all), outside)).toMatchObject({ status: 401 });
  await expect(ask(at(loopback), outside)).rejects.toThrow("ECONNREFUSED");
});

test("a given key is the service's, and is stored in its folder", async () => {
  const apiKey = "a-key-that-somebody-gave";
  const service = await useService({ apiKey });
  expect(service.apiKey).toBe(apiKey);
  const headers = { authorization: `Bearer ${apiKey}` };
  expect((await fetch(`${service.baseUrl}/endpoints`, { headers })).status).toBe(200);
});
