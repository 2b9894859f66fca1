import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, test } from "vitest";
import { askUntil, send, stringAt } from "../../../support/raw-http";
import { command, runLine, useFolder } from "./command";

const folder = await useFolder();

test("snapshot, reset and restore print what they did, and fail while a service uses the folder", async () => {
  const data = join(folder, "data");
  const snapshot = join(folder, "snapshot");
  const run = (...words: string[]) => runLine(...words, "--data", data);
  const service = await createService({ port: 0, dataFolder: data });
  for (const words of [["reset"], ["snapshot", snapshot]]) {
    const { code, out, err } = await run(...words);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      `serverless-compute-local: the data folder ${data} is in use by another local service (process ${process.pid}): stop that service or choose another folder with --data`,
    );
  }
  await service.stop(0);
  expect(await run("snapshot", snapshot)).toEqual({
    code: 0,
    err: "",
    out: `Copied ${data} to ${snapshot}. It contains the values of secrets.`,
  });
  expect((await run("reset")).out).toBe(`Deleted all objects, jobs and logs of ${data}.`);
  expect(readdirSync(data)).not.toContain("service.db");
  expect((await run("restore", snapshot)).out).toBe(`Restored ${data} from ${snapshot}.`);
  expect(readdirSync(data)).toContain("service.db");
});

test("start --ephemeral leaves nothing on disk, also after the second Ctrl-C", async () => {
  const temporary = join(folder, "ephemeral");
  mkdirSync(temporary);
  const handler = join(__dirname, "../../../conformance/handlers/slow.mjs");
  const words = ["start", "--port", "0", "--ephemeral", "--json", "--image", `acme/slow:1=${handler}`];
  const { child, firstLine, ended } = command(words, { TMPDIR: temporary });
  const addresses = JSON.parse(await firstLine());
  const used = dirname(addresses.apiKeyFile);
  expect(dirname(used)).toBe(temporary);
  const key = (await runLine("key", "--data", used)).out;
  const body = { name: "slow", image: "acme/slow:1", type: "QUEUE", gpu: { pools: ["AMPERE_24"] } };
  const json = { ...body, scaling: { type: "QUEUE_DELAY", queueDelay: 1 } };
  const id = stringAt(await send("POST", `${addresses.url}/v2/serverless`, { key, json }), "id");
  const job = (await runLine("run", id, '{"ms":30000}', "--data", used)).out;
  await askUntil(
    () => send("GET", `${addresses.url}/v2/${id}/status/${JSON.parse(job).id}`, { key }),
    ({ text }) => text.includes("IN_PROGRESS"),
  );
  child.kill("SIGINT");
  await askUntil(
    () => send("GET", `${addresses.url}/readyz`),
    ({ status }) => status === 503,
  );
  child.kill("SIGINT");
  expect((await ended).code).toBe(130);
  expect(readdirSync(temporary).filter((name) => !name.startsWith("tsx-"))).toEqual([]);
  expect((await runLine("start", "--ephemeral", "--data", used)).err).toMatch(
    /option '--ephemeral' cannot be used with option '--data <dir>'/,
  );
}, 60_000);
