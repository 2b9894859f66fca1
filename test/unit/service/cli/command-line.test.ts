import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { commandLine } from "../../../../service/cli/main";
import { runLine, useFolder } from "./command";

const folder = useFolder();

describe("an invalid command line exits with 2 and one line", () => {
  test.each([
    ["start --port 65536", /--port.*'65536'.*whole number from 0 to 65535/],
    ["start --port x", /--port.*'x'.*whole number from 0 to 65535/],
    ["start --port", /--port.*argument missing/],
    ["start --image acme/echo:1", /--image.*'acme\/echo:1'.*NAME=COMMAND/],
    ["start --image =node", /--image.*'=node'.*NAME=COMMAND/],
    ["start --template-release soon", /--template-release.*'soon'.*number of seconds/],
    ["start --template-release -1", /--template-release.*'-1'.*0 or more/],
    ["start --stream lines", /--stream.*'lines'.*"array" or "envelope"/],
    ["start --rate-limits none", /--rate-limits.*'none'.*"on" or "off"/],
    ["start --job-visibility-delay soon", /--job-visibility-delay.*'soon'.*number of seconds/],
    ["start --page-size 0", /--page-size.*'0'.*whole number from 1 to 1000/],
    ["start --page-size 1001", /--page-size.*'1001'.*whole number from 1 to 1000/],
    ["start --retire v2", /--retire.*'v2'.*"v1" or "graphql"/],
    ["start --colour", /unknown option '--colour'/],
    ["start now", /too many arguments/],
    ["key now", /too many arguments/],
    ["logs", /missing required argument 'endpoint'/],
    ["logs chat --lines -1", /--lines.*'-1'.*whole number, 0 or more/],
    ["jobs chat --limit 0", /--limit.*'0'.*whole number, 1 or more/],
    ["logs chat --lines many", /--lines.*'many'.*whole number, 0 or more/],
    ["token", /missing required argument 'endpoint'/],
    ["start --port 1e9", /--port.*'1e9'.*whole number from 0 to 65535/],
    ["stat", /unknown command 'stat'/],
    // As from an unset variable of a shell.
    ["snapshot ", /argument 'dir'. It must not be empty/],
    ["restore ", /argument 'dir'. It must not be empty/],
    ["init ", /argument 'handler'. It must not be empty/],
    ["run  {}", /argument 'endpoint'. It must not be empty/],
    ["start --allow-host a --allow-host ", /--allow-host.*''.*must not be empty/],
  ])("%s", async (line, message) => {
    const { code, out, err } = await runLine(...line.split(" "));
    expect(err).toMatch(message);
    expect(err).toMatch(/^serverless-compute-local: [^\n]*(\n\(Did you mean.*\))?$/);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });
});

const valueOptions = commandLine().commands.flatMap((command) =>
  command.options.flatMap((option) => (option.required && option.long ? [[command, option.long] as const] : [])),
);

test.each(valueOptions.map(([command, option]) => [command.name(), option, command] as const))(
  "%s rejects an empty value of %s",
  async (name, option, command) => {
    const values = command.registeredArguments.filter(({ required }) => required).map(() => "x");
    const mandatory = command.options.flatMap(({ mandatory: isMandatory, long }) =>
      isMandatory && long !== undefined && long !== option ? [long, "x"] : [],
    );
    const { code, err } = await runLine(name, ...values, ...mandatory, option, "");
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(new RegExp(`^serverless-compute-local: option '${option} .*' argument '' is invalid`)),
    });
  },
);

describe("a start that cannot succeed exits with 1 and one line with the next step", () => {
  const missing = (file: string) =>
    `the file ${file} does not exist; specify an existing file, in quotes if its path contains spaces`;
  test.each([
    ["a missing handler", "/absent/handler.mjs", missing("/absent/handler.mjs")],
    ["a path with a space and without quotes", "/absent/my handler.mjs", missing("/absent/my")],
    ["a missing program", "/absent/venv/bin/python -u worker", missing("/absent/venv/bin/python")],
    ["a missing source file", "python3 -u /absent/handler.py", missing("/absent/handler.py")],
    ["an open quote", "./it's.mjs", `"./it's.mjs" has a quote (') that is not closed`],
  ])("if the command of an image has %s", async (_what, command, message) => {
    const data = join(folder, "no-handler");
    const response = await runLine("start", "--port", "0", "--data", data, "--image", `acme/echo:1=${command}`);
    expect(response).toEqual({ code: 1, out: "", err: `serverless-compute-local: --image acme/echo:1: ${message}` });
    expect(existsSync(data)).toBe(false);
  });

  test("if Node is too old", async () => {
    const old = join(folder, "old-node.cjs");
    await writeFile(old, 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
    const bin = join(__dirname, "../../../../service/bin/serverless-compute-local.js");
    const ended = await promisify(execFile)(process.execPath, ["--require", old, bin, "key"]).catch((error) => error);
    expect({ code: ended.code, out: ended.stdout, err: ended.stderr }).toEqual({
      code: 1,
      out: "",
      err: "serverless-compute-local: requires Node 20.19 or later, found 18.20.4; install a newer Node\n",
    });
  });
});

describe("key", () => {
  test("prints only the key of a data folder", async () => {
    const dataFolder = join(folder, "key");
    const service = await createService({ port: 0, dataFolder });
    await service.stop();
    expect(await runLine("key", "--data", dataFolder)).toEqual({ code: 0, out: service.apiKey, err: "" });
  });

  test("reports a missing key and creates nothing", async () => {
    const { code, out, err } = await runLine("key", "--data", join(folder, "nowhere"));
    expect(err).toMatch(/nowhere has no key yet; the service creates it at its first start/);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });
});

test("--version prints the version of the package and the contract's revision", async () => {
  const { code, out } = await runLine("--version");
  expect(out).toMatch(/^serverless-compute-local \d+\.\d+\.\d+\nREST v2 contract: /);
  const pinned = await readFile(new URL("../../../contract/rest-v2.json", import.meta.url), "utf8");
  const { revision } = JSON.parse(pinned);
  for (const part of out.split(": ")[1]?.replace("commit ", "").split(", ") ?? []) expect(revision).toContain(part);
  expect(code).toBe(0);
});

test("--help lists the flags and the default port, and exits with 0", async () => {
  const { code, out } = await runLine("start", "--help");
  expect(out).not.toMatch(/default:\s+(false|\[|\{)/);
  for (const flag of ["--port", "--data", "--image", "--template-release", "--stream", "--rate-limits", "--json"]) {
    expect(out).toContain(flag);
  }
  expect(out).toContain("7337");
  expect(code).toBe(0);
});
