import { readdir, readFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { processorTime, residentMemory } from "./processes";

/** Cost of one command besides its time. */
export interface Usage {
  /** Requests to the service. */
  requests: number;
  /** Processor time of the provider's process, ms. */
  cpu: number;
  /** Peak memory of the provider's process, MiB. */
  memory: number;
}

/** Counting proxy in front of a service. */
export interface Counter {
  origin: string;
  /** Requests since the last read. */
  drain(): number;
  close(): void;
}

/** Starts a counting proxy for an origin, on loopback. */
export async function startCounter(origin: string): Promise<Counter> {
  let count = 0;
  const agent = new Agent({ keepAlive: true });
  const server = createServer((clientRequest, clientResponse) => {
    count += 1;
    const { method, headers } = clientRequest;
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
      const current = count;
      count = 0;
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

/** Tests whether a command line belongs to a provider: a plugin, or the process of dynamic resources. */
const isProvider = (words: string): boolean => /pulumi-resource-|\/dist\/plugin\.js|dynamic-provider/.test(words);

/** Samples the providers whose environment contains `folder` until stopped. Requires /proc. */
export function watchProvider(folder: string): () => Promise<Pick<Usage, "cpu" | "memory">> {
  const read = (pid: number, name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const otherProcesses = new Set<number>();
  const samples = new Map<number, { cpu: number; memory: number }>();
  const sample = async (): Promise<void> => {
    for (const name of await readdir("/proc").catch(() => [])) {
      const pid = Number(name);
      if (Number.isNaN(pid) || otherProcesses.has(pid)) continue;
      const environment = await read(pid, "environ");
      // The command line of a starting or ending process is empty.
      if (environment !== "" && !environment.includes(folder)) otherProcesses.add(pid);
      else if (environment !== "" && isProvider(await read(pid, "cmdline"))) {
        const [cpu, memory] = await Promise.all([processorTime(pid), residentMemory(pid).catch(() => 0)]);
        const previous = samples.get(pid) ?? { cpu: 0, memory: 0 };
        samples.set(pid, { cpu: Math.max(previous.cpu, cpu), memory: Math.max(previous.memory, memory || 0) });
      }
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
    const all = [...samples.values()];
    return {
      cpu: all.reduce((sum, { cpu }) => sum + cpu, 0),
      memory: Math.max(0, ...all.map(({ memory }) => memory)),
    };
  };
}
