import { afterAll, afterEach } from "vitest";
import { hangUp, readBody } from "../../support/broken-responses";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { serve } from "../../support/loopback";
import { at } from "../../support/raw-http";
import type { Run } from "./deployment";
import { contextAt } from "./wrong-addresses";

/** An endpoint in the service: the image of its workers, and a setting that deployments change. */
export interface Serving {
  image: string;
  idleTimeout: number;
}

/** End of an engine's process at the given report of progress. */
export interface EarlyEnd {
  how: "kill" | "Ctrl-C";
  afterProgress: number;
}

/** The jobs of endpoints whose results depend on the image, and runs of an engine that uses them. */
export interface ImageJobs {
  /** Reads an endpoint without the provider. */
  servingNow(id: string): Promise<Serving>;
  /** Starts a process of the engine. Its programs make `idleTimeout` secret. */
  startRun(end?: EarlyEnd): Run;
  /** Lets later runs reach the service after a killed one. */
  endKill(): void;
}

const health = {
  jobs: { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
  workers: { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
};

/** The record of a job: the image `good:…` completes it, `bad:…` fails it, and no other image ends it. */
function jobOn(image: string, id: string): object {
  if (image.startsWith("good")) return { id, status: "COMPLETED", output: { works: true } };
  if (image.startsWith("bad")) return { id, status: "FAILED", error: `${image} cannot work` };
  return { id, status: "IN_PROGRESS" };
}

/** Starts a job API without workers, so that a sequence of deployments takes milliseconds. */
export async function useImageJobs(bench: LifecycleBench): Promise<ImageJobs> {
  let isKilled = false;
  let count = 0;
  const killed = (): boolean => isKilled || bench.proxy.isClientGone();
  const servingNow: ImageJobs["servingNow"] = async (id) => {
    const { json } = await bench.rest("GET", `/endpoints/${id}?includeTemplate=true`);
    return { image: String(at(json, "template", "imageName")), idleTimeout: Number(at(json, "idleTimeout")) };
  };
  const serverlessUrl = await serve(async (request, response) => {
    await readBody(request);
    const [, , endpointId = "", operation = "", id = ""] = (request.url ?? "").split("/");
    if (killed()) return hangUp(request);
    const { image } = await servingNow(endpointId);
    const bodies: Readonly<Record<string, object>> = {
      run: { id: `job-${++count}`, status: "IN_QUEUE" },
      status: jobOn(image, id),
      cancel: { id, status: "CANCELLED" },
      health,
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(bodies[operation]));
  }, afterAll);
  const endKill = (): void => {
    isKilled = false;
    bench.proxy.clear();
  };
  afterEach(endKill);
  return {
    servingNow,
    endKill,
    startRun(end) {
      const stop = new AbortController();
      let remaining = end?.afterProgress ?? 0;
      const progress = (): void => {
        if (!end || --remaining !== 0) return;
        if (end.how === "Ctrl-C") stop.abort(new Error("the deployment was cancelled"));
        else {
          isKilled = true;
          bench.proxy.inject({}, { kind: "clientGone" });
        }
      };
      const secrets = { paths: [["idleTimeout"]], values: [] };
      const context = contextAt(bench, bench.proxy.origin, { serverlessUrl });
      return { context: { ...context, signal: stop.signal, progress, secrets }, killed };
    },
  };
}
