import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
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

/**
 * @typedef {object} Holder
 * @property {number} pid
 * @property {string} host
 * @property {string} token
 * @property {number} touched Time of its last heartbeat, from the file's modification time.
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
 * Runs `work` under an exclusive lock file. The lock of a dead process is taken over immediately. A holder whose state is unknown
 * (another machine, a reused process id) is considered dead after `heartbeatTimeout`.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {LockOptions} [options]
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  const { heartbeatTimeout = 20_000 } = options;
  const token = await acquire(path, options);
  const heartbeat = setInterval(() => void touch(path), Math.max(10, heartbeatTimeout / 10));
  heartbeat.unref();
  const stopHeartbeat = () => clearInterval(heartbeat);
  try {
    return await work();
  } finally {
    stopHeartbeat();
    if ((await readHolder(path))?.token === token) await rm(path, { force: true });
  }
}

/**
 * @param {string} path
 * @param {LockOptions} options
 */
async function acquire(path, { onWait, timeout = Number.POSITIVE_INFINITY, heartbeatTimeout = 20_000, poll = 200 }) {
  await mkdir(dirname(path), { recursive: true });
  const token = randomUUID();
  const startTime = performance.now();
  let isReported = false;
  let lastSignature = "";
  let signatureTime = 0;
  while (!(await create(path, token))) {
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    // Measured by this process's monotonic clock: file times jump when a machine resumes.
    const signature = `${holder.token} ${holder.touched}`;
    if (signature !== lastSignature) {
      lastSignature = signature;
      signatureTime = performance.now();
    }
    if (isDead(holder) || performance.now() - signatureTime > heartbeatTimeout) {
      await removeStaleLock(path, signature, heartbeatTimeout);
      continue;
    }
    if (performance.now() - startTime >= timeout) throw new LockTimeout(holder.pid);
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
  const temporaryFile = `${path}.${token}`;
  await writeFile(temporaryFile, JSON.stringify({ pid: process.pid, host: hostname(), token }));
  try {
    await link(temporaryFile, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(temporaryFile, { force: true });
  }
}

/**
 * Removes a dead process's lock. Only one process at a time may do that, and only if the lock is unchanged: otherwise a
 * slow process would remove its successor's new lock.
 * @param {string} path
 * @param {string} signature
 * @param {number} heartbeatTimeout
 */
async function removeStaleLock(path, signature, heartbeatTimeout) {
  const guard = `${path}.takeover`;
  try {
    await mkdir(guard);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    const age =
      Date.now() -
      (await stat(guard)
        .then((stats) => stats.mtimeMs)
        .catch(() => Date.now()));
    if (age > heartbeatTimeout) await rmdir(guard).catch(() => {});
    await sleep(20);
    return;
  }
  try {
    const holder = await readHolder(path);
    if (holder !== undefined && `${holder.token} ${holder.touched}` === signature) await rm(path, { force: true });
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
