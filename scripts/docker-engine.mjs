import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Capabilities that an engine requires, by their bits in /proc: network administration and mounting. */
const capabilities = [12n, 21n];

/** Maximum time for an engine's start or stop, ms. */
const longest = 60_000;

/** Tests whether an engine responds at the default address of the Docker CLI. */
export const engineAnswers = () => {
  const { status } = spawnSync("docker", ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 });
  return status === 0;
};

/**
 * Reason why this machine has no Docker Engine; undefined if one responds or can be started.
 * @returns {string | undefined}
 */
export function engineMissing() {
  if (engineAnswers()) return undefined;
  const none = "no Docker Engine responds, and none can be started:";
  if (process.platform !== "linux") return `${none} this is not Linux`;
  if (process.getuid?.() !== 0) return `${none} only root can start one`;
  if (spawnSync("dockerd", ["--version"]).status !== 0) return `${none} there is no dockerd on PATH`;
  const [, has = "0"] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const isAllowed = capabilities.every((bit) => (BigInt(`0x${has}`) >> bit) & 1n);
  return isAllowed ? undefined : `${none} this container is not allowed to create networks and mounts`;
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
  const places = ["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")];
  const quiet = [
    "--bridge=none",
    "--iptables=false",
    "--ip-forward=false",
    "--ip-masq=false",
    "--userland-proxy=false",
  ];
  const words = [...places, "--pidfile", join(folder, "pid"), "--host", `unix://${socket}`, ...quiet];
  const child = spawn("dockerd", words, { detached: true, stdio: ["ignore", to, to] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);

  async function stop() {
    process.off("exit", end);
    end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
  const until = Date.now() + longest;
  while (!(await pings(socket))) {
    if (child.exitCode === null && Date.now() < until) {
      await pause(100);
      continue;
    }
    const said = readFileSync(log, "utf8").trim().split("\n").slice(-5).join("\n");
    await stop();
    throw new Error(`dockerd did not start:\n${said}`);
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
