import { type Clock, createClients, type Dialect } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import type { Context } from "../../provider/framework/contract";
import { type Behaviour, json, type ReceivedRequest, startFaultyServer } from "./faulty-server";
import { quietContext } from "./quiet-context";

/** A clock on which `sleep` advances the time and returns immediately. */
function instantClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

/** A service with scripted responses, its settings, and the context of a verb that calls it; `count` is the number of the request, from 1. */
export async function startScriptedService(
  respond: (request: ReceivedRequest, count: number) => Behaviour,
  dialect: Dialect = "v1",
) {
  const { origin, requests } = await startFaultyServer(respond);
  const clock = instantClock();
  const addresses = { baseUrl: `${origin}/${dialect}`, graphqlUrl: `${origin}/graphql`, serverlessUrl: origin };
  const settings = { clients: { apiKey: "sck-key-of-the-test", dialect, ...addresses, clock, random: () => 0 } };
  const clients = createClients(settings.clients);
  onTestFinished(() => clients.close());
  const messages: string[] = [];
  const report = (text: string): void => void messages.push(text);
  const context: Context = { ...quietContext({ clients, clock }), progress: report, warn: report };
  return { requests, messages, clock, settings, context };
}

type Operation = "run" | "runsync" | "status" | "cancel" | "health";

/** A job API with scripted responses; `call` is the number of the operation's call, from 1. */
export async function startScriptedJobs(behaviours: Partial<Record<Operation, (call: number) => Behaviour>>) {
  const calls: string[] = [];
  const bodies: unknown[] = [];
  const service = await startScriptedService(({ url, body }) => {
    const operation = url.split(/[/?]/)[3] ?? "";
    calls.push(operation);
    if (body !== "") bodies.push(JSON.parse(body));
    const behaviour = Object.entries(behaviours).find(([name]) => name === operation)?.[1];
    return (
      behaviour?.(calls.filter((name) => name === operation).length) ?? json({ error: `unknown endpoint "e1"` }, 404)
    );
  });
  return { calls, bodies, ...service };
}
