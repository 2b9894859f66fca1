import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { describe, expect, onTestFinished, test } from "vitest";
import { send } from "../../../support/raw-http";
import { registerSecret } from "../../../support/secret-scan";
import { command, runLine, startService, useFolder } from "./command";

const folder = useFolder();
const link = /^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}$/;

/** Returns the console's link, after registering its token as a secret. */
function linkIn(text: string): string {
  expect(text).toMatch(link);
  registerSecret(new URL(text).searchParams.get("t") ?? "", "the token of a link");
  return text;
}
const opens = async (url: string): Promise<boolean> => (await send("GET", url)).headers.has("set-cookie");

describe("open", () => {
  test("prints a new single-use link of the service on the folder", async () => {
    const data = join(folder, "open");
    const service = await createService({ port: 0, dataFolder: data });
    onTestFinished(() => service.stop(0));
    const { code, out, err } = await runLine("open", "--data", data);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(await opens(linkIn(out))).toBe(true);
    expect(await opens(out)).toBe(false);
    expect(linkIn((await runLine("open", "--data", data)).out)).not.toBe(out);
  });

  test("prints the next step if no service runs, if it was killed, and if it has no console", async () => {
    const data = join(folder, "none");
    const none = await runLine("open", "--data", data);
    expect(none.err).toBe(
      `serverless-compute-local: no service uses the folder ${data}; start one, or pass its folder with --data`,
    );
    const service = await createService({ port: 0, dataFolder: data, console: false });
    const { err, code } = await runLine("open", "--data", data);
    expect(err).toMatch(
      /^serverless-compute-local: the service on \S+ has no console; start it again without --no-console$/,
    );
    expect(code).toBe(1);
    const address = readFileSync(join(data, "address"), "utf8");
    await service.stop();
    expect(existsSync(join(data, "address"))).toBe(false);
    // No process has this number.
    writeFileSync(join(data, "address"), address.replace(/"pid":\d+/, '"pid":4194305'));
    expect((await runLine("open", "--data", data)).err).toBe(none.err);
  });
});

describe("key --wait", () => {
  test("prints the key of a starting service once it responds", async () => {
    const data = join(folder, "wait");
    const waiting = command(["key", "--wait", "--data", data]);
    const { addresses, apiKey, child, ended } = await startService(data);
    const { code, stdout } = await waiting.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${apiKey}\n` });
    expect((await send("GET", `${addresses.baseUrl}/endpoints`, { key: stdout.trim() })).status).toBe(200);
    child.kill("SIGTERM");
    await ended;
  });

  test("does not print the key of a stopped service, and reports a timeout", async () => {
    const data = join(folder, "late");
    await (await createService({ port: 0, dataFolder: data })).stop();
    const { code, out, err } = await runLine("key", "--wait", "0.2", "--data", data);
    expect(err).toBe(
      `serverless-compute-local: no service for the folder ${data} started within 0.2 s; start one, or pass its folder with --data`,
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });
});
