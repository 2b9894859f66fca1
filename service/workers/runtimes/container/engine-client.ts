import { type Clock, systemClock } from "serverless-compute-api/clock";
import { type Call, createJsonClient, type JsonClient } from "../json-client";
import type { EngineAddress } from "./engine-address";

/** A client of the Engine API, Docker's or Podman's. Without a signal, a call has a timeout. */
export type EngineClient = JsonClient;

/** Timeout of a call, ms. */
const callTimeout = 30_000;

/** Sends a call with a signal that aborts after `ms`, unless the call has ended. */
export function within<Result>(
  ms: number,
  clock: Clock,
  send: (timeout: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = new AbortController();
  const ended = new AbortController();
  clock.sleep(ms, ended.signal).then(
    () => timeout.abort(),
    () => undefined,
  );
  return send(timeout.signal).finally(() => ended.abort());
}

/**
 * Creates a client for the few engine calls that workers need. Paths have no version, so that each engine uses its newest. The usual client
 * library has 56 dependencies, three of which build native code during installation.
 */
export function createEngineClient(
  { displayUrl, tls, ...address }: EngineAddress,
  clock: Clock = systemClock,
): EngineClient {
  const client = createJsonClient(`the Docker Engine at ${displayUrl}`, (request) => ({
    ...address,
    ...tls,
    ...request,
    protocol: tls ? "https:" : "http:",
    agent: false,
    headers: { host: "docker", ...request.headers },
  }));
  return {
    ...client,
    call: (method, path, call) => limited((options) => client.call(method, path, options), call),
    /** Sends a call; its timeout ends with the start of the response. */
    open: (method, path, call) => limited((options) => client.open(method, path, options), call),
  };

  function limited<Result>(send: (call: Call) => Promise<Result>, call: Call = {}): Promise<Result> {
    if (call.signal) return send(call);
    return within(callTimeout, clock, (signal) => send({ ...call, signal }));
  }
}
