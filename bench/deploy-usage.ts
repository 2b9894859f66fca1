import { readdir, readFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import type { Role, Usage } from "./deploy-results";
import { processorTime, residentMemory } from "./processes";

/** Counting proxy in front of a service. */
export interface Counter {
  origin: string;
  /** Requests since the last read. */
  drain(): Usage["requests"];
  close(): void;
}

const kindOf = (method = "", url = ""): string =>
  `${method} ${new URL(url, "http://localhost").pathname.replace(/\/[a-z0-9]{9,}(?=\/|$)/g, "/*")}`;

/** Starts a counting proxy for an origin, on loopback. */
export async function startCounter(origin: string): Promise<Counter> {
  let counts: Usage["requests"] = {};
  const agent = new Agent({ keepAlive: true });
  const server = createServer((clientRequest, clientResponse) => {
    const { method, headers } = clientRequest;
    const kind = kindOf(method, clientRequest.url);
    counts[kind] = (counts[kind] ?? 0) + 1;
    const forwarded = request(new URL(clientRequest.url ?? "/", origin), { method, headers, agent }, (response) => {
      clientResponse.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(clientResponse);
    });
    forwarded.on("error", () => clientResponse.destroy());
    clientRequest.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    drain: () => {
      const current = counts;
      counts = {};
      return current;
    },
    close: () => {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Interval between samples of the processes, ms. */
const sampleInterval = 15;

/** Role of a command line: a plugin or the process of dynamic resources, a language host or the program, or the engine. */
function roleOf(words: string): Role | undefined {
  if (/pulumi-resource-|\/dist\/plugin\.js|dynamic-provider/.test(words)) return "provider";
  if (/pulumi-language-|\/cmd\/run/.test(words)) return "language host";
  return /^[^\0]*\bpulumi\0/.test(words) ? "engine" : undefined;
}

/**
 * Samples the processes whose environment contains `folder`, and the service, until stopped. Requires /proc. A process that ends
 * lacks the time since its last sample.
 */
export async function watchProcesses(
  folder: string,
  service: number,
): Promise<() => Promise<Pick<Usage, "cpu" | "memory">>> {
  const read = (pid: number, name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const serviceBefore = await processorTime(service);
  const otherProcesses = new Set<number>();
  const processes = new Map<number, { role: Role; cpu: number; memory: number }>();
  const sample = async (): Promise<void> => {
    for (const name of await readdir("/proc").catch(() => [])) {
      const pid = Number(name);
      if (Number.isNaN(pid) || otherProcesses.has(pid)) continue;
      const environment = await read(pid, "environ");
      // The command line of a starting or ending process is empty.
      if (environment === "") continue;
      if (!environment.includes(folder)) {
        otherProcesses.add(pid);
        continue;
      }
      const role = roleOf(await read(pid, "cmdline"));
      if (role === undefined) continue;
      const [cpu, memory] = await Promise.all([processorTime(pid), residentMemory(pid).catch(() => 0)]);
      const previous = processes.get(pid) ?? { cpu: 0, memory: 0 };
      processes.set(pid, {
        role,
        cpu: Math.max(previous.cpu, cpu),
        memory: Math.max(previous.memory, memory || 0),
      });
    }
  };
  let isEnded = false;
  const watching = (async () => {
    while (!isEnded) {
      await sample();
      await new Promise((resolve) => setTimeout(resolve, sampleInterval));
    }
  })();
  return async () => {
    isEnded = true;
    await watching;
    const all = [...processes.values()];
    const cpuOf = (role: Role): number => all.reduce((sum, each) => sum + (each.role === role ? each.cpu : 0), 0);
    return {
      cpu: {
        engine: cpuOf("engine"),
        "language host": cpuOf("language host"),
        provider: cpuOf("provider"),
        service: (await processorTime(service)) - serviceBefore,
      },
      memory: Math.max(0, ...all.map(({ role, memory }) => (role === "provider" ? memory : 0))),
    };
  };
}
