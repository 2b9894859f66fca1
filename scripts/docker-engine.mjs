import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Capabilities that an engine requires, by their bits in /proc: network administration and mounting. */
const capabilities = [12n, 21n];

/** Maximum time for an engine's start or stop, ms. */
const startTimeout = 60_000;

/** Tests whether an engine responds at the default address of the Docker CLI. */
export const engineResponds = () => {
  const { status } = spawnSync("docker", ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 });
  return status === 0;
};

/**
 * Reason why this machine has no Docker Engine; undefined if one responds or can be started.
 * @returns {string | undefined}
 */
export function engineMissing() {
  if (engineResponds()) return undefined;
  const prefix = "no Docker Engine responds, and none can be started:";
  if (process.platform !== "linux") return `${prefix} this is not Linux`;
  if (process.getuid?.() !== 0) return `${prefix} only root can start one`;
  if (spawnSync("dockerd", ["--version"]).status !== 0) return `${prefix} there is no dockerd on PATH`;
  const [, has = "0"] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const isAllowed = capabilities.every((bit) => (BigInt(`0x${has}`) >> bit) & 1n);
  return isAllowed ? undefined : `${prefix} this container is not allowed to create networks and mounts`;
}

/**
 * Starts an engine in a temporary folder. It changes no firewall rules or machine settings, so that nothing remains
 * after its stop.
 * @returns {Promise<{ host: string, stop(): Promise<void> }>}
 */
export async function startEngine() {
  const folder = mkdtempSync(join(tmpdir(), "dockerd-"));
  const socket = join(folder, "docker.sock");
  const log = join(folder, "log");
  const to = openSync(log, "w");
  const folderFlags = ["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")];
  const flags = [
    "--bridge=none",
    "--iptables=false",
    "--ip-forward=false",
    "--ip-masq=false",
    "--userland-proxy=false",
  ];
  const commandArguments = [...folderFlags, "--pidfile", join(folder, "pid"), "--host", `unix://${socket}`, ...flags];
  const child = spawn("dockerd", commandArguments, { detached: true, stdio: ["ignore", to, to] });
  const exit = new Promise((resolve) => child.once("close", resolve));
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);

  async function stop() {
    process.off("exit", end);
    end();
    await exit;
    rmSync(folder, { recursive: true, force: true });
  }
  const deadline = Date.now() + startTimeout;
  while (!(await pings(socket))) {
    if (child.exitCode === null && Date.now() < deadline) {
      await pause(100);
      continue;
    }
    const logTail = readFileSync(log, "utf8").trim().split("\n").slice(-5).join("\n");
    await stop();
    throw new Error(`dockerd did not start:\n${logTail}`);
  }
  return { host: `unix://${socket}`, stop };
}

/**
 * @param {string} socketPath
 * @returns {Promise<boolean>}
 */
function pings(socketPath) {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path: "/_ping", timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on("error", () => resolve(false));
    sent.on("timeout", () => sent.destroy());
    sent.end();
  });
}
