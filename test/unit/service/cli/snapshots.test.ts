import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, test } from "vitest";
import { runLine, useFolder } from "./command";

const folder = useFolder();

test("snapshot, reset and restore print their result; snapshot and reset fail while a service uses the folder", async () => {
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
