import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { LockTimeout, withLock } from "../../../scripts/lock.mjs";
import { scratchFolder } from "../../support/folders";

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Leaves a lock behind, as a killed process does. */
function createLock(path: string, pid: number, host = hostname()): void {
  mkdirSync(path);
  writeFileSync(join(path, `${pid} left ${host}`), "");
}

/** Returns the id of an ended process. */
function deadProcess(): number {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  return pid;
}

test("work under the same lock in several processes never overlaps, and the lock is removed afterwards", async () => {
  const folder = scratchFolder();
  const script = join(folder, "work.mjs");
  const record = join(folder, "record");
  const address = pathToFileURL(join(__dirname, "../../../scripts/lock.mjs")).href;
  writeFileSync(
    script,
    `import { withLock } from ${JSON.stringify(address)};
     import { appendFileSync } from "node:fs";
     for (let round = 0; round < 5; round += 1)
       await withLock(${JSON.stringify(join(folder, "lock"))}, async () => {
         appendFileSync(${JSON.stringify(record)}, "in ");
         await new Promise((resolve) => setTimeout(resolve, 2));
         appendFileSync(${JSON.stringify(record)}, "out ");
       }, { poll: 1 });`,
  );
  const children = [1, 2, 3].map(() => spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] }));
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
  expect(codes).toEqual([0, 0, 0]);
  expect(readFileSync(record, "utf8")).toBe("in out ".repeat(15));
  expect(readdirSync(folder).sort()).toEqual(["record", "work.mjs"]);
});

test("the lock is released if the work fails", async () => {
  const path = join(scratchFolder(), "lock");
  const work = async () => {
    throw new Error("disk failure");
  };
  await expect(withLock(path, work)).rejects.toThrow("disk failure");
  expect(existsSync(path)).toBe(false);
});

test("one of several processes takes over the lock of a dead process immediately", async () => {
  const folder = scratchFolder();
  const path = join(folder, "lock");
  const record = join(folder, "record");
  createLock(path, deadProcess());
  const work = async () => {
    appendFileSync(record, "in ");
    await pause();
    appendFileSync(record, "out ");
  };
  // Waiting for the time limit would exceed the test's limit.
  await Promise.all([1, 2, 3, 4].map(() => withLock(path, work, { poll: 5, heartbeatTimeout: 600_000 })));
  expect(readFileSync(record, "utf8")).toBe("in out ".repeat(4));
});

test("the lock of another machine is taken over if it is not renewed", async () => {
  const path = join(scratchFolder(), "lock");
  createLock(path, 1, "another-machine");
  let isWaiting = false;
  const onWait = () => {
    isWaiting = true;
  };
  await expect(withLock(path, async () => "done", { heartbeatTimeout: 40, poll: 5, onWait })).resolves.toBe("done");
  expect(isWaiting).toBe(true);
});

test("a holder that works longer than the limit renews its lock", async () => {
  const path = join(scratchFolder(), "lock");
  const order: string[] = [];
  const heartbeatTimeout = 1500;
  let second: Promise<unknown> = Promise.resolve();
  const longWork = async () => {
    second = withLock(path, async () => order.push("second"), { heartbeatTimeout, poll: 5 });
    const startTime = Date.now();
    while (Date.now() - startTime < 1.3 * heartbeatTimeout) await pause();
    order.push("first");
  };
  await withLock(path, longWork, { heartbeatTimeout });
  await second;
  expect(order).toEqual(["first", "second"]);
});

test("an unknown file in the lock is ignored after the limit", async () => {
  const path = join(scratchFolder(), "lock");
  mkdirSync(join(path, "unknown"), { recursive: true });
  await expect(withLock(path, async () => "done", { heartbeatTimeout: 40, poll: 5 })).resolves.toBe("done");
});

test("the error of a caller that stops waiting names the lock's holder", async () => {
  const path = join(scratchFolder(), "lock");
  await withLock(path, async () => {
    const error = await withLock(path, async () => {}, { timeout: 0 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(LockTimeout);
    expect(error).toMatchObject({ pid: process.pid });
  });
});
