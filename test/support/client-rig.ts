import { inspect } from "node:util";
import { type ApiError, type ClientSettings, type Clients, createClients, isApiError } from "serverless-compute-api";
import { onTestFinished } from "vitest";
import { type Behaviour, type FaultyServer, type SeenRequest, startFaultyServer } from "./faulty-server";
import { ManualClock } from "./manual-clock";

/** A key that occurs in no other text. */
export const apiKey = "sck_TOPSECRET+/key&42";

/** Clients of a scripted server, on a manual clock. */
export interface Rig extends FaultyServer {
  clients: Clients;
  clock: ManualClock;
  /** Advances the clock through retry delays until the call ends. Returns its result. */
  result<Answer>(call: Promise<Answer>): Promise<Answer>;
  /** Same for a call that must fail. */
  failure(call: Promise<unknown>): Promise<ApiError>;
}

/** Waits between attempts of one call, in order. */
export const waitsOf = () => {
  const waits: number[] = [];
  return { waits, onRetry: ({ delay }: { delay: number }) => void waits.push(delay) };
};

/** Advances the clock until the call ends; the clock stands still during requests. */
export async function runClock<Answer>(clock: ManualClock, call: Promise<Answer>): Promise<Answer> {
  let over = false;
  const end = () => {
    over = true;
  };
  call.then(end, end);
  while (!over) {
    if (clock.waiting > 0) await clock.advance(50);
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return call;
}

/** Returns the ApiError of a failing call; throws if the call succeeds or has another error. */
export async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome: unknown = await call.then(
    (answer) => new Error(`the call succeeded with ${inspect(answer)}`),
    (error: unknown) => error,
  );
  if (isApiError(outcome)) return outcome;
  throw outcome;
}

/** Starts a server and clients, which are closed after the test. */
export async function startRig(
  plan: Behaviour[] | ((request: SeenRequest, count: number) => Behaviour),
  settings: Partial<ClientSettings> = {},
): Promise<Rig> {
  const server = await startFaultyServer(plan);
  const clock = new ManualClock();
  const { origin } = server;
  const clients = createClients({
    apiKey,
    baseUrl: `${origin}/v1`,
    graphqlUrl: `${origin}/graphql`,
    serverlessUrl: origin,
    clock,
    random: () => 0.5,
    ...settings,
  });
  onTestFinished(async () => {
    await server.close();
    await clients.close();
  });
  return {
    ...server,
    clients,
    clock,
    result: (call) => runClock(clock, call),
    failure: (call) => runClock(clock, apiErrorOf(call)),
  };
}
