import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { askUntil, at, expectAnswer, send, stringAt } from "../../../support/raw-http";
import { command, startService, useFolder } from "./command";

const folder = await useFolder();
const limit = 60_000;
const slow = fileURLToPath(new URL("../../../conformance/handlers/slow.mjs", import.meta.url));

describe("a service in its own process", () => {
  test(
    "prints its addresses as the first line of --json, alone on stdout, and stops on SIGTERM",
    async () => {
      const data = join(folder, "json");
      const { addresses, apiKey, child, ended } = await startService(data);
      const { baseUrl, graphqlUrl, serverlessUrl, apiKeyFile, pid } = addresses;
      expect(serverlessUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect([baseUrl, graphqlUrl]).toEqual([`${serverlessUrl}/v1`, `${serverlessUrl}/graphql`]);
      expect(pid).toBe(child.pid);
      expect(apiKeyFile).toBe(join(data, "api-key"));
      expect(apiKey).toMatch(/^[0-9a-f]{64}$/);
      expect(statSync(apiKeyFile).mode & 0o777).toBe(0o600);
      expect(statSync(data).mode & 0o777).toBe(0o700);
      expectAnswer(await send("GET", `${baseUrl}/endpoints`, { key: apiKey }), 200);
      child.kill("SIGTERM");
      const { code, stdout, stderr } = await ended;
      expect(stdout.trim().split("\n")).toHaveLength(1);
      expect(stdout + stderr).not.toContain(apiKey);
      expect(code).toBe(0);
    },
    limit,
  );

  test(
    "prints addresses and how to get the key, never the key itself",
    async () => {
      const data = join(folder, "friendly");
      const { child, firstLine, ended } = command(["start", "--port", "0", "--data", data]);
      expect(await firstLine()).toBe("The service is running. Ctrl-C stops it.");
      const key = (await readFile(join(data, "api-key"), "utf8")).trim();
      child.kill("SIGINT");
      const { code, stdout, stderr } = await ended;
      expect(stdout).toMatch(
        /REST v2 +http:\/\/127\.0\.0\.1:\d+\/v2 +contract: REST API 2\.0\.0, SDK 0\.2\.0, commit 71be666\n/,
      );
      expect(stdout).toMatch(/REST v1\s+http:\/\/127\.0\.0\.1:\d+\/v1\n/);
      expect(stdout).toContain(join(data, "api-key"));
      expect(stdout).toContain("Stopping");
      expect(stdout + stderr).not.toContain(key);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
    limit,
  );

  test(
    "rejects users while a job may finish after the first Ctrl-C, and ends immediately after the second",
    async () => {
      const {
        addresses,
        apiKey: key,
        child,
        ended,
      } = await startService(join(folder, "busy"), "--image", `slow:1=${slow}`);
      const post = (url: string, json: object) => send("POST", url, { key, json });
      const template = { name: "slow", imageName: "slow:1", isServerless: true };
      const templateId = stringAt(await post(`${addresses.baseUrl}/templates`, template), "id");
      const endpointId = stringAt(await post(`${addresses.baseUrl}/endpoints`, { name: "slow", templateId }), "id");
      const jobs = `${addresses.serverlessUrl}/v2/${endpointId}`;
      const jobId = stringAt(await post(`${jobs}/run`, { input: { ms: 30_000 } }), "id");
      await askUntil(
        () => send("GET", `${jobs}/status/${jobId}`, { key }),
        (answer) => at(answer.json, "status") === "IN_PROGRESS",
      );
      child.kill("SIGINT");
      await askUntil(
        () => send("GET", `${addresses.baseUrl}/endpoints`, { key }),
        (answer) => answer.status === 503,
      );
      child.kill("SIGINT");
      const { code, stderr } = await ended;
      expect(stderr).toContain("Stopping: running jobs have 5 s to finish. Press Ctrl-C again to stop immediately.");
      expect(code).toBe(130);
    },
    limit,
  );
});
