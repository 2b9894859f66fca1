import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { main } from "../../../../service/cli/main";
import { createEndpoint } from "../../../support/endpoint";
import { command, runLine, useFolder } from "./command";

const folder = useFolder();

/** Creates endpoints with these names in a data folder, stops the service, and returns the endpoint ids in the same order. */
async function stoppedService(dataFolder: string, ...names: string[]): Promise<string[]> {
  const service = await createService({ port: 0, dataFolder });
  const ids: string[] = [];
  for (const name of names) ids.push(await createEndpoint(service, "x:1", { name, workers: { max: 0 } }));
  await service.stop(0);
  return ids;
}

const data = join(folder, "data");
const [chat = "", twin = "", otherTwin = "", unfinished = ""] = await stoppedService(
  data,
  "chat",
  "twin",
  "twin",
  "unfinished",
);
const logOf = (id: string): string => join(data, "logs", `${id}.log`);
mkdirSync(join(data, "logs"));
writeFileSync(`${logOf(chat)}.1`, "one\ntwo\n");
writeFileSync(logOf(chat), "three\nfour\n");
writeFileSync(logOf(unfinished), "one\ntwo");

describe("logs without a running service", () => {
  test.each([
    ["by name", "chat", [], "one\ntwo\nthree\nfour"],
    ["by id", chat, [], "one\ntwo\nthree\nfour"],
    ["the last lines only, across files", "chat", ["--lines", "3"], "two\nthree\nfour"],
    ["no lines", "chat", ["--lines", "0"], ""],
    ["an unfinished last line", "unfinished", ["--lines", "1"], "two"],
    ["no lines, also no unfinished line", "unfinished", ["--lines", "0"], ""],
  ])("prints an endpoint's log: %s", async (_how, endpoint, flags, out) => {
    expect(await runLine("logs", endpoint, "--data", data, ...flags)).toEqual({ code: 0, out, err: "" });
  });

  test("reports an endpoint whose workers never started", async () => {
    const { code, out, err } = await runLine("logs", twin, "--data", data);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: "",
      err: `endpoint "twin" (${twin}) has no log yet; none of its workers has started`,
    });
  });
});

describe("logs exits with 1 and one line for", () => {
  test.each([
    ["an unknown endpoint: the existing endpoints", "nosuch", data, `"nosuch"; there are "chat" (${chat}), "twin"`],
    ["an ambiguous name: the ids", "twin", data, `"twin" (${twin}), "twin" (${otherTwin}); pass the id`],
    [
      "an unused folder: the option --data",
      "chat",
      join(folder, "nowhere"),
      "nowhere yet; pass the service's folder with --data",
    ],
  ])("%s", async (_what, endpoint, dataFolder, reported) => {
    const { code, out, err } = await runLine("logs", endpoint, "--data", dataFolder);
    expect(err).toContain(reported);
    expect(err).toMatch(/^serverless-compute-local: [^\n]*$/);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  test("a folder without endpoints", async () => {
    const empty = join(folder, "empty");
    await stoppedService(empty);
    const { code, err } = await runLine("logs", "chat", "--data", empty);
    expect(err).toContain('no endpoint has the id or name "chat"; there are no endpoints');
    expect(code).toBe(1);
  });
});

test("logs --follow prints new lines and exits with 0 when its reader closes", async () => {
  const dataFolder = join(folder, "followed");
  const [id = ""] = await stoppedService(dataFolder, "followed");
  const file = join(dataFolder, "logs", `${id}.log`);
  mkdirSync(join(dataFolder, "logs"));
  writeFileSync(file, "old\npast\n");
  const { child, ended } = command(["logs", "followed", "--follow", "--lines", "1", "--data", dataFolder]);
  const lines: string[] = [];
  if (child.stdout) createInterface(child.stdout).on("line", (line) => lines.push(line));
  await expect.poll(() => lines).toEqual(["past"]);
  appendFileSync(file, "new\n");
  await expect.poll(() => lines).toEqual(["past", "new"]);
  child.stdout?.destroy();
  const appendTimer = setInterval(() => appendFileSync(file, "unread\n"), 20);
  const { code, stderr } = await ended.finally(() => clearInterval(appendTimer));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("logs --follow exits with 0 if its output is aborted", async () => {
  const unread = new AbortController();
  const output = { out: () => unread.abort(), err: () => undefined };
  expect(await main(["node", "x", "logs", "chat", "--data", data, "--follow"], output, unread.signal)).toBe(0);
});
