import { createServer } from "node:net";
import { type ClientSettings, createClients } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import type { Context } from "../../../provider/framework/contract";
import { dialect, restPaths } from "../../support/dialect";
import { json, startFaultyServer } from "../../support/faulty-server";
import type { LifecycleBench } from "../../support/lifecycle-bench";
import { listenOnLoopback, unusedOrigin } from "../../support/loopback";

/** Addresses of the three APIs under one origin, and the dialect of the REST API. */
const addressesUnder = (origin: string) => ({
  dialect,
  baseUrl: `${origin}${restPaths.root}`,
  graphqlUrl: `${origin}/graphql`,
  serverlessUrl: origin,
});

/** A verb's context whose clients lead to `origin`. */
export function contextAt(bench: LifecycleBench, origin: string, settings: Partial<ClientSettings> = {}): Context {
  const context = bench.context();
  const clients = createClients({
    apiKey: bench.addresses.apiKey,
    ...addressesUnder(origin),
    clock: context.clock,
    random: () => 0.5,
    ...settings,
  });
  onTestFinished(() => clients.close());
  return { ...context, clients };
}

/** A verb's context whose clients use an address without a server. */
export const contextAtNobody = async (bench: LifecycleBench): Promise<Context> =>
  contextAt(bench, await unusedOrigin());

/** A verb's context in dialect v1 whose clients lead to a service that has retired REST v1 and GraphQL. */
export async function contextAtRetired(bench: LifecycleBench): Promise<Context> {
  const { origin } = await startFaultyServer([json({ message: "use v2" }, 410)]);
  return contextAt(bench, origin, { dialect: "v1", baseUrl: `${origin}/v1` });
}

/** Starts a server that sends a text to each connection and closes it; returns its port. Stopped after the test. */
export async function chatterPort(text: string): Promise<number> {
  const server = createServer((socket) => void socket.on("error", () => undefined).end(text));
  onTestFinished(() => void server.close());
  return Number(new URL(await listenOnLoopback(server)).port);
}
