import { type Clock, createClients, type Dialect } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import type { Context } from "../../provider/framework/contract";
import { type Behaviour, type ReceivedRequest, startFaultyServer } from "./faulty-server";
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
  const server = await startFaultyServer(respond);
  const clock = instantClock();
  const { origin, requests } = server;
  const addresses = { baseUrl: `${origin}/${dialect}`, graphqlUrl: `${origin}/graphql`, serverlessUrl: origin };
  const settings = { clients: { apiKey: "sck-key-of-the-test", dialect, ...addresses, clock, random: () => 0 } };
  const clients = createClients(settings.clients);
  onTestFinished(async () => {
    await clients.close();
    await server.close();
  });
  const messages: string[] = [];
  const report = (text: string): void => void messages.push(text);
  const context: Context = { ...quietContext({ clients, clock }), progress: report, warn: report };
  return { requests, messages, clock, settings, context };
}
