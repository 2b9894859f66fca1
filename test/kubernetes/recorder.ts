import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { closeServer, freePort } from "../support/loopback";

/** A job in a response of `/status`, or in its webhook. */
export const resultShape = z.looseObject({
  id: z.string(),
  status: z.string(),
  output: z.looseObject({ token: z.string() }).optional(),
});
export type Result = z.output<typeof resultShape>;

/**
 * Starts a server for the operation `token` of test/docker/programs/worker.mjs: it records each execution and each webhook. The first
 * `held` executions continue once all of them have begun.
 */
export async function useRecorder(host: string, held = 0) {
  /** Tokens of the executions, by job. */
  const executions = new Map<string, string[]>();
  const webhooks = new Map<string, Result[]>();
  /** Times at which executions began, ms of the monotonic clock. */
  const begins: number[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => "");
    const { searchParams } = new URL(request.url ?? "", `http://${host}`);
    const job = searchParams.get("job");
    if (job === null) {
      const result = resultShape.parse(JSON.parse(body));
      webhooks.set(result.id, [...(webhooks.get(result.id) ?? []), result]);
      response.end();
      return;
    }
    executions.set(job, [...(executions.get(job) ?? []), searchParams.get("token") ?? ""]);
    begins.push(performance.now());
    waiting.push(() => response.end());
    if (begins.length >= held) for (const proceed of waiting.splice(0)) proceed();
  });
  const port = await freePort();
  server.listen(port, host);
  await once(server, "listening");
  onTestFinished(() => closeServer(server));
  return { url: `http://${host}:${port}/`, executions, webhooks, begins };
}
