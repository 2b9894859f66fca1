import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { resolveCommand } from "../../../../service/workers/runtimes/process/image-command";
import { scratchFolder } from "../../../support/folders";

const folder = scratchFolder(afterAll);
const handler = join(folder, "my handler.mjs");
writeFileSync(handler, "export default () => 1;\n");
const quoted = `"${handler}"`;

const commandOf = (images: Record<string, string>, image: string, dockerArgs = "") => {
  const command = resolveCommand(images, image, dockerArgs);
  return "error" in command ? command.error : [command.file, ...command.args];
};

describe("the command of an image", () => {
  test("is found by the exact name before the name without a tag", () => {
    const images = { "acme/chat": "old", "acme/chat:2": "new" };
    expect(commandOf(images, "acme/chat:2")).toEqual(["new"]);
    expect(commandOf(images, "acme/chat:1")).toEqual(["old"]);
    expect(commandOf(images, "acme/chat@sha256:abc")).toEqual(["old"]);
  });

  test("is found for a registry whose port resembles a tag", () => {
    expect(commandOf({ "localhost:5000/chat": "run" }, "localhost:5000/chat:1")).toEqual(["run"]);
    expect(commandOf({ localhost: "wrong" }, "localhost:5000/chat")).toContain("has no command");
  });

  test("ends with the template's dockerArgs as arguments", () => {
    expect(commandOf({ x: "python3 -u handler.py" }, "x", "--model 'a b'")).toEqual([
      "python3",
      "-u",
      "handler.py",
      "--model",
      "a b",
    ]);
  });

  test("is the Node worker for a single handler file", () => {
    const command = commandOf({ x: quoted }, "x", "--fast");
    expect(command.at(0)).toBe(process.execPath);
    expect(command.slice(-3)).toEqual([expect.stringContaining("node-host"), handler, "--fast"]);
  });

  test("uses a separate channel for a handler file, and HTTP for every other program", () => {
    expect(resolveCommand({ x: quoted }, "x", "")).toMatchObject({ channel: true });
    expect(resolveCommand({ x: quoted }, "x", "--a", { isServer: true })).toEqual({
      file: process.execPath,
      channel: false,
      args: ["--no-extra-info-on-fatal-exception", handler, "--a"],
    });
    expect(resolveCommand({ x: `node ${quoted}` }, "x", "")).toMatchObject({ channel: false });
  });
});

describe("an image without a command is reported with", () => {
  test("its name, the option to set and the configured images", () => {
    const error = commandOf({ "acme/echo": "x" }, "acme/none:1");
    for (const part of ["acme/none:1", "--image acme/none:1=COMMAND", "acme/echo"]) expect(error).toContain(part);
  });

  test("a missing handler file", () => {
    expect(commandOf({ x: join(folder, "absent.mjs") }, "x")).toContain(
      `${join(folder, "absent.mjs")} of the image "x" does not exist`,
    );
  });

  test("the fault of a command line or of arguments that cannot be split", () => {
    expect(commandOf({ x: "run 'this" }, "x")).toContain("is not closed");
    expect(commandOf({ x: "run" }, "x", '"open')).toContain("is not closed");
    expect(commandOf({ x: " " }, "x")).toContain("is empty");
  });
});

test("a TypeScript handler runs as soon as tsx is installed in its project, even if a start was refused before", () => {
  const project = scratchFolder();
  const typed = join(project, "part", "typed.ts");
  mkdirSync(dirname(typed));
  writeFileSync(typed, "export default (): number => 1;\n");
  const command = () => resolveCommand({ x: `"${typed}"` }, "x", "", { isServer: true });
  const withoutTsx = command();
  // Node 22.18 and later strip types themselves.
  if ("typescript" in process.features && process.features.typescript)
    expect(withoutTsx).toMatchObject({ args: expect.not.arrayContaining(["--import"]) });
  else
    expect(withoutTsx).toMatchObject({
      error: expect.stringContaining("run npm install tsx in its folder"),
      isBroken: true,
    });
  const modules = join(project, "node_modules");
  cpSync(dirname(createRequire(__filename).resolve("tsx/package.json")), join(modules, "tsx"), { recursive: true });
  const loader = expect.stringContaining(`${join(modules, "tsx")}/`);
  expect(command()).toMatchObject({ args: expect.arrayContaining(["--import", loader]) });
  rmSync(modules, { recursive: true });
  expect(command()).toEqual(withoutTsx);
});
