import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { isAlive, lastLines, run } from "../../../scripts/child.mjs";
import { scratchFolder } from "../../support/folders";

const script = (name: string) => pathToFileURL(join(__dirname, "../../../scripts", name)).href;

/** Starts a program from its source; it is killed after the test. */
function start(text: string, ...flags: string[]): ChildProcess {
  const path = join(scratchFolder(), "program.mjs");
  writeFileSync(path, text);
  const child = spawn(process.execPath, [...flags, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Waits until a condition holds; otherwise the test times out. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

test("a command's output is returned with its exit code", async () => {
  const finished = await run("sh", ["-c", "cat; echo problem >&2; exit 3"], { input: "text" });
  expect(finished).toEqual({ code: 3, signal: null, stdout: "text", stderr: "problem\n", timedOut: false });
  expect(lastLines(finished)).toBe("problem");
});

test("a process is considered ended even before it is reaped", async () => {
  // The shell is replaced by a program that never reaps the child.
  const parent = spawn("sh", ["-c", "sh -c 'exit 0' & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [text] = await once(parent.stdout, "data");
  await until(() => !isAlive(Number(text)));
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(1)).toBe(true);
});

test("a command that exceeds its timeout is killed with its child processes", async () => {
  const record = join(scratchFolder(), "pid");
  const finished = await run("sh", ["-c", `sleep 60 & echo $! > ${record}; wait`], { timeout: 2000 });
  expect(finished).toMatchObject({ timedOut: true, signal: "SIGKILL" });
  await until(() => !isAlive(Number(readFileSync(record, "utf8"))));
});

test("an interrupt waits for the command to end, and prevents later commands", async () => {
  const ready = join(scratchFolder(), "ready");
  const controller = new AbortController();
  const running = run(
    "sh",
    ["-c", `trap 'echo ended in order; exit 4' INT; : > ${ready}; while :; do sleep 0.01; done`],
    {
      interrupt: controller.signal,
    },
  );
  await until(() => existsSync(ready));
  controller.abort();
  expect(await running).toMatchObject({ code: 4, stdout: "ended in order\n" });
  await expect(run("true", [], { interrupt: controller.signal })).rejects.toThrow("aborted");
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a script that receives %s ends its child processes",
  async (signal) => {
    const record = join(scratchFolder(), "pid");
    const child = start(
      `import { run } from ${JSON.stringify(script("child.mjs"))};
     import { runScript } from ${JSON.stringify(script("entry.mjs"))};
     await runScript(async () => {
       await run("sh", ["-c", "sleep 60 & echo $! > ${record}; wait"]);
       return 0;
     });`,
    );
    await until(() => existsSync(record) && readFileSync(record, "utf8") !== "");
    child.kill(signal);
    const [code] = await once(child, "exit");
    expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
    await until(() => !isAlive(Number(readFileSync(record, "utf8"))));
  },
);

test("a script's error is its message without a stack trace, with exit code 1", async () => {
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import { runScript } from ${JSON.stringify(script("entry.mjs"))};
       await runScript(async () => { throw new Error("no disk"); });`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  const [code] = await once(child, "close");
  expect({ code, text }).toEqual({ code: 1, text: "\nno disk\n" });
});
