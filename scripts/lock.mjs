import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./child.mjs";

/**
 * @typedef {object} LockOptions
 * @property {() => void} [onWait] Called once when another process has the lock.
 * @property {number} [patience] Maximum wait, ms. Default: unlimited.
 * @property {number} [silence] Milliseconds without a heartbeat after which the holder is considered dead. Default
 * 20000.
 * @property {number} [poll] Polling interval, ms. Default 200.
 */

/**
 * @typedef {object} Holder
 * @property {number} pid
 * @property {string} host
 * @property {string} token
 * @property {number} touched Time of its last heartbeat, from the file's modification time.
 */

/** The lock was held for longer than the caller's patience. */
export class LockTaken extends Error {
  /** @param {number} pid */
  constructor(pid) {
    super(`process ${pid} holds it`);
    this.pid = pid;
  }
}

/**
 * Runs `work` under an exclusive lock file. The lock of a dead process is taken over immediately. A holder whose state is unknown
 * (another machine, a reused process id) is considered dead after `silence`.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {LockOptions} [options]
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  const { silence = 20_000 } = options;
  const token = await acquire(path, options);
  const beat = setInterval(() => void touch(path), Math.max(10, silence / 10));
  beat.unref();
  const leave = () => clearInterval(beat);
  try {
    return await work();
  } finally {
    leave();
    if ((await readHolder(path))?.token === token) await rm(path, { force: true });
  }
}

/**
 * @param {string} path
 * @param {LockOptions} options
 */
async function acquire(path, { onWait, patience = Number.POSITIVE_INFINITY, silence = 20_000, poll = 200 }) {
  await mkdir(dirname(path), { recursive: true });
  const token = randomUUID();
  const began = performance.now();
  let isReported = false;
  let watched = "";
  let since = 0;
  while (!(await create(path, token))) {
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    // Measured by this process's monotonic clock: file times jump when a machine resumes.
    const sign = `${holder.token} ${holder.touched}`;
    if (sign !== watched) {
      watched = sign;
      since = performance.now();
    }
    if (isDead(holder) || performance.now() - since > silence) {
      await takeAway(path, sign, silence);
      continue;
    }
    if (performance.now() - began >= patience) throw new LockTaken(holder.pid);
    if (!isReported) onWait?.();
    isReported = true;
    await sleep(poll);
  }
  return token;
}

/**
 * Creates the lock with its content atomically; returns false if it exists.
 * @param {string} path
 * @param {string} token
 */
async function create(path, token) {
  const draft = `${path}.${token}`;
  await writeFile(draft, JSON.stringify({ pid: process.pid, host: hostname(), token }));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes a dead process's lock. Only one process at a time may do that, and only if the lock is unchanged: otherwise a
 * slow process would remove its successor's new lock.
 * @param {string} path
 * @param {string} sign
 * @param {number} silence
 */
async function takeAway(path, sign, silence) {
  const guard = `${path}.takeover`;
  try {
    await mkdir(guard);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    const age =
      Date.now() -
      (await stat(guard)
        .then((found) => found.mtimeMs)
        .catch(() => Date.now()));
    if (age > silence) await rmdir(guard).catch(() => {});
    await sleep(20);
    return;
  }
  try {
    const holder = await readHolder(path);
    if (holder !== undefined && `${holder.token} ${holder.touched}` === sign) await rm(path, { force: true });
  } finally {
    await rmdir(guard).catch(() => {});
  }
}

/**
 * @param {string} path
 * @returns {Promise<Holder | undefined>} undefined if the lock is free
 */
async function readHolder(path) {
  try {
    const { mtimeMs } = await stat(path);
    const { pid, host, token } = JSON.parse(await readFile(path, "utf8"));
    return { pid, host, token, touched: mtimeMs };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    // A foreign or truncated file counts as a lock without a heartbeat.
    if (error instanceof SyntaxError) return { pid: 0, host: "", token: "", touched: 0 };
    throw error;
  }
}

/** @param {Holder} holder */
function isDead({ pid, host }) {
  return host === hostname() && Number.isInteger(pid) && pid > 0 && !isAlive(pid);
}

/** @param {string} path */
async function touch(path) {
  const now = new Date();
  await utimes(path, now, now).catch(() => {});
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
