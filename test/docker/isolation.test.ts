import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { expectResponse, send, stringAt } from "../support/raw-http";
import { startRig } from "./rig";

const variables = z.record(z.string(), z.string());

test("only the worker routes respond inside a container, with the endpoint's own token", async (context) => {
  const rig = await startRig(context);
  const [id, other] = [await rig.endpoint(), await rig.endpoint()];
  const env = variables.parse(await rig.output(id, { do: "env" }));
  const { origin } = new URL(env["RUNPOD_WEBHOOK_PING"] ?? "");
  const authorization = env["RUNPOD_AI_API_KEY"];
  const call = (url: string, headers: object = { authorization }, method = "GET") =>
    rig.output(id, { do: "call", url, headers, method });

  const ping = `${origin}/v2/${id}/ping/${env["RUNPOD_POD_ID"]}`;
  expect(await call(ping)).toMatchObject({ status: 200 });
  expect(await call(ping, {})).toMatchObject({ status: 401 });
  expect(await call(`${origin}/v2/${other}/ping/somebody`)).toMatchObject({ status: 401 });
  // Reversed, so that no job's input contains the key.
  const key = { backwards: [...`Bearer ${rig.service.apiKey}`].reverse().join("") };
  const paths = ["/v1/endpoints", "/v1/templates", `/v2/${id}/health`, `/v2/${id}/requests`, "/graphql", "/"];
  for (const path of paths) expect(await call(origin + path, key), path).toMatchObject({ status: 404 });
  expect(await call(`${origin}/v2/${id}/run`, key, "POST")).toMatchObject({ status: 404 });
  expect(await call(`${origin}/graphql`, key, "POST")).toMatchObject({ status: 404 });

  // The users' API, and any other server on this machine's loopback.
  const loopback = createServer((_request, response) => response.end("here"));
  const loopbackOrigin = await listenOnLoopback(loopback);
  onTestFinished(() => closeServer(loopback));
  const ports = [rig.service.serverlessUrl, loopbackOrigin].map((address) => new URL(address).port);
  for (const host of ["127.0.0.1", new URL(origin).hostname])
    for (const port of ports)
      expect(await call(`http://${host}:${port}/v1/endpoints`, key)).toEqual({ failure: "ECONNREFUSED" });
});

test("a container contains no variable, file or socket of this machine, and gains no privileges", async (context) => {
  process.env["A_VARIABLE_OF_THE_HOST"] = "host";
  onTestFinished(() => void delete process.env["A_VARIABLE_OF_THE_HOST"]);
  const rig = await startRig(context);
  const id = await rig.endpoint({ env: { MINE: "1" } });
  const env = variables.parse(await rig.output(id, { do: "env" }));
  const containerVariables = Object.keys(env).filter((name) => !name.startsWith("RUNPOD_"));
  expect(containerVariables.sort()).toEqual(["HOME", "HOSTNAME", "MINE", "PATH", "PYTHONUNBUFFERED"]);
  expect(await rig.output(id, { do: "files", path: "/" })).not.toContain("root");
  const mounts = z.string().parse(await rig.output(id, { do: "read", path: "/proc/self/mountinfo" }));
  expect(mounts).not.toContain(rig.dataFolder);
  expect(mounts).not.toContain("docker.sock");
  expect(await rig.output(id, { do: "read", path: "/proc/self/status" })).toMatch(/^NoNewPrivs:\s*1$/m);
});

test("a network volume is a folder at /runpod-volume and at volumeMountPath, and is deleted with the volume", async (context) => {
  const rig = await startRig(context);
  const { client } = rig;
  const call = (method: string, path: string, json?: object) =>
    send(method, `${rig.service.baseUrl}${path}`, { key: rig.service.apiKey, json });
  const body = { name: "models", size: 10, dataCenterId: "EU-RO-1" };
  const volume = stringAt(await call("POST", "/networkvolumes", body), "id");
  const endpoint = { networkVolumeId: volume };
  const id = await rig.endpoint({ volumeMountPath: "/models", endpoint });
  await rig.output(id, { do: "write", path: "/runpod-volume/weights", text: "42" });
  expect(await rig.output(id, { do: "read", path: "/models/weights" })).toBe("42");
  const folder = join(rig.dataFolder, "volumes", volume);
  expect(readFileSync(join(folder, "weights"), "utf8")).toBe("42");
  for (const path of [`/endpoints/${id}`, `/networkvolumes/${volume}`]) expectResponse(await call("DELETE", path), 204);
  await expect.poll(() => existsSync(folder)).toBe(false);
  await expect.poll(async () => (await rig.containers()).length).toBe(0);
  await expect(client.call("GET", `/images/${rig.image}/json`), "an existing image remains").resolves.toBeDefined();
});
