import { type Clock, createClients } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import type { Context } from "../../provider/lifecycle/contract";
import { type Behaviour, json, type ReceivedRequest, startFaultyServer } from "./faulty-server";

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

type Operation = "run" | "runsync" | "status" | "cancel" | "health";

/** A job API with scripted responses; `call` is the number of the operation's call, from 1. */
export async function startJobApi(behaviours: Partial<Record<Operation, (call: number) => Behaviour>>) {
  const calls: string[] = [];
  const bodies: unknown[] = [];
  const server = await startFaultyServer(({ url, body }: ReceivedRequest) => {
    const operation = url.split(/[/?]/)[3] ?? "";
    calls.push(operation);
    if (body !== "") bodies.push(JSON.parse(body));
    const behaviour = Object.entries(behaviours).find(([name]) => name === operation)?.[1];
    return (
      behaviour?.(calls.filter((name) => name === operation).length) ?? json({ error: `unknown endpoint "e1"` }, 404)
    );
  });
  const clock = instantClock();
  const { origin } = server;
  const addresses = { baseUrl: `${origin}/v1`, graphqlUrl: `${origin}/graphql`, serverlessUrl: origin };
  const clients = createClients({ apiKey: "sck-key-of-the-test", ...addresses, clock, random: () => 0 });
  onTestFinished(async () => {
    await clients.close();
    await server.close();
  });
  const messages: string[] = [];
  const context: Context = {
    clients,
    clock,
    signal: new AbortController().signal,
    progress: (text) => void messages.push(text),
    warn: (text) => void messages.push(text),
    claimedIds: new Map(),
    settings: { templateReleaseLimit: 1 },
  };
  return { calls, bodies, messages, clock, context };
}
