import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./child.mjs";

/**
 * @typedef {object} LockOptions
 * @property {() => void} [onWait] Called once when another process has the lock.
 * @property {number} [timeout] Maximum wait, ms. Default: unlimited.
 * @property {number} [heartbeatTimeout] Milliseconds without a heartbeat after which the holder is considered dead. Default
 * 20000.
 * @property {number} [poll] Polling interval, ms. Default 200.
 */

/** The lock was held for longer than the caller's timeout. */
export class LockTimeout extends Error {
  /** @param {number} pid */
  constructor(pid) {
    super(`process ${pid} holds it`);
    this.pid = pid;
  }
}

/**
 * Runs `work` under an exclusive lock. The lock is a folder. A process that wants it writes a file there, and has it if there is no other
 * file; otherwise, it deletes its file and repeats this later. No two processes create the same file, so each may delete the file of a
 * dead process. A process whose state is unknown (on another machine, a reused process id) is considered dead after `heartbeatTimeout`.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {LockOptions} [options]
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  const { onWait, timeout = Number.POSITIVE_INFINITY, heartbeatTimeout = 20_000, poll = 200 } = options;
  const name = [process.pid, randomUUID(), hostname()].join(" ");
  const file = join(path, name);
  const findOther = searchOf(path, name, heartbeatTimeout);
  const startTime = performance.now();
  await mkdir(dirname(path), { recursive: true });
  for (let isReported = false; ; isReported = true) {
    await createFile(path, file);
    const other = await findOther();
    if (other === undefined) break;
    await rm(file, { force: true });
    if (performance.now() - startTime >= timeout) throw new LockTimeout(Number.parseInt(other, 10));
    if (!isReported) onWait?.();
    // A random time, because two processes that write their files together both delete them.
    await sleep(poll * (0.5 + Math.random()));
  }
  const heartbeat = setInterval(() => void touch(file), Math.max(10, heartbeatTimeout / 10));
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(file, { force: true });
    // Fails if another process has written its file.
    await rmdir(path).catch(() => {});
  }
}

/**
 * Creates a file and its folder, which another process may remove in between.
 * @param {string} folder
 * @param {string} file
 */
async function createFile(folder, file) {
  await mkdir(folder).catch(ignore("EEXIST"));
  await writeFile(file, "").catch(ignore("ENOENT"));
  if (!existsSync(file)) await createFile(folder, file);
}

/**
 * Returns a handler of errors that throws those with another code.
 * @param {string} code
 */
const ignore = (code) => (/** @type {NodeJS.ErrnoException} */ error) => {
  if (error.code !== code) throw error;
};

/**
 * Creates a search for the file of another process, which deletes the files of dead ones.
 * @param {string} folder
 * @param {string} ownName
 * @param {number} heartbeatTimeout
 * @returns {() => Promise<string | undefined>}
 */
function searchOf(folder, ownName, heartbeatTimeout) {
  /**
   * Heartbeats of processes: the file's time, and the time at which this process saw it first. That is monotonic time, because file times
   * jump when a machine resumes.
   * @type {Map<string, { touched: number, seenAt: number }>}
   */
  const heartbeats = new Map();
  return async () => {
    for (const name of await readdir(folder)) {
      const stats = name === ownName ? undefined : await stat(join(folder, name)).catch(() => undefined);
      if (stats === undefined) continue;
      const last = heartbeats.get(name);
      const heartbeat = last?.touched === stats.mtimeMs ? last : { touched: stats.mtimeMs, seenAt: performance.now() };
      heartbeats.set(name, heartbeat);
      if (!isDead(name) && performance.now() - heartbeat.seenAt <= heartbeatTimeout) return name;
      await rm(join(folder, name), { recursive: true, force: true });
    }
    return undefined;
  };
}

/** @param {string} name */
function isDead(name) {
  const [pid, , host] = name.split(" ");
  return host === hostname() && !isAlive(Number(pid));
}

/** @param {string} file */
async function touch(file) {
  const now = new Date();
  await utimes(file, now, now).catch(() => {});
}
