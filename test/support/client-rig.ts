import { inspect } from "node:util";
import { type ApiError, type ClientSettings, type Clients, createClients, isApiError } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import { type Behaviour, type FaultyServer, type ReceivedRequest, startFaultyServer } from "./faulty-server";
import { ManualClock } from "./manual-clock";

/** A key that occurs in no other text. */
export const apiKey = "sck_TOPSECRET+/key&42";

/** Clients on a manual clock. */
interface ClockedClients {
  clients: Clients;
  clock: ManualClock;
  /** Advances the clock through retry delays until the call ends. Returns its result. */
  result<Result>(call: Promise<Result>): Promise<Result>;
  /** Advances the clock until the call fails. Returns its error. */
  failure(call: Promise<unknown>): Promise<ApiError>;
}

/** Clients of a scripted server. */
export interface Rig extends FaultyServer, ClockedClients {}

/** Waits between attempts of one call, in order. */
export const recordRetryDelays = () => {
  const delays: number[] = [];
  return { delays, onRetry: ({ delay }: { delay: number }) => void delays.push(delay) };
};

/** Returns the ApiError of a failing call; throws if the call succeeds or has another error. */
export async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome: unknown = await call.then(
    (result) => new Error(`the call succeeded with ${inspect(result)}`),
    (error: unknown) => error,
  );
  if (isApiError(outcome)) return outcome;
  throw outcome;
}

/** Creates clients of a service at this origin, which are closed after the test. */
export function clientsAt(origin: string, settings: Partial<ClientSettings> = {}): ClockedClients {
  const clock = new ManualClock();
  const clients = createClients({
    apiKey,
    baseUrl: `${origin}/${settings.dialect ?? "v1"}`,
    graphqlUrl: `${origin}/graphql`,
    serverlessUrl: origin,
    clock,
    random: () => 0.5,
    ...settings,
  });
  onTestFinished(() => clients.close());
  return {
    clients,
    clock,
    result: (call) => clock.advanceUntil(call),
    failure: (call) => clock.advanceUntil(apiErrorOf(call)),
  };
}

/** Starts a server and clients, which are closed after the test. */
export async function startRig(
  behaviours: Behaviour[] | ((request: ReceivedRequest, count: number) => Behaviour),
  settings: Partial<ClientSettings> = {},
): Promise<Rig> {
  const server = await startFaultyServer(behaviours);
  const clocked = clientsAt(server.origin, settings);
  // Runs before the clients are closed, because hooks run in reverse order.
  onTestFinished(() => server.close());
  return { ...server, ...clocked };
}
