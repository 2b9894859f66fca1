import { setMaxListeners } from "node:events";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { isLoopback, requestFacts } from "./address";
import type { Clock } from "./clock";
import { classifyFault } from "./connection-faults";
import { ApiError, certain, classifyResponse, isApiError, noResponse, type RequestFacts } from "./errors";
import { exchange, type Outgoing } from "./exchange";
import type { CallOptions } from "./management";
import { createPauses, createSlots } from "./pacing";
import { type Proxies, proxyPasswords } from "./proxies";
import { createRedaction, redactFault } from "./redaction";
import { type ApiResponse, headerOf, refusalText, shorten } from "./response";
import { type RetryAllowance, readRateLimit, readRetryAfter, waitBeforeRetry } from "./retry";

/** Settings of a transport; times in milliseconds. */
export interface TransportSettings {
  apiKey: string;
  /** Timeout of one attempt. */
  attemptTimeout: number;
  /** Timeout of a call with all attempts and waits, excluding the time in the queue for a free slot. */
  deadline: number;
  /** Maximum number of concurrent calls. */
  maxInFlight: number;
  /** Proxies for all addresses except loopback; none by default. */
  proxies?: Proxies | undefined;
  clock: Clock;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/** The request of a call, as described by a dialect. */
export interface TransportRequest extends RetryAllowance {
  method: Outgoing["method"];
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Name of the GraphQL operation. */
  operation?: string;
  /** Values to redact from errors, besides the key. */
  secrets?: readonly string[];
  /** Name of the rate limit; a 429 pauses all calls with the same name. Defaults to the URL's origin. */
  limitedWith?: string;
  /** Maximum time that the service holds the request, ms; added to the timeouts. */
  heldFor?: number;
  /** Reads the object after an ambiguous failure: its record if the change was applied, undefined if not. Rejects if unknown. */
  confirm?: (options: CallOptions) => Promise<ApiResponse | undefined>;
  /** True to treat every status as success, except responses that certainly reached no worker, which are retried. */
  anyStatus?: boolean;
  /** Reads the error from a successful response, as in GraphQL. */
  refusal?: (body: unknown) => string | undefined;
}

/** Sends requests and retries them if that is safe. Resolves only on success; otherwise rejects with an ApiError. */
export interface Transport {
  send(request: TransportRequest, options?: CallOptions): Promise<ApiResponse>;
  /** Number of attempts sent. */
  requestCount(): number;
  /** Time of the service's clock, ms since the epoch, accurate to the second; undefined before the first response. */
  serviceTime(): number | undefined;
  /** Waits for calls in progress; later calls reject. */
  close(): Promise<void>;
}

/** Minimum length of a reported pause, ms. */
const shownPause = 1000;

/** Maximum delay of Node's timers, ms. */
const longestTimer = 2 ** 31 - 1;

/** Creates the transport for all calls, with connection pools, the key, timeouts, retries and redaction. */
export function createTransport(settings: TransportSettings): Transport {
  const { apiKey, clock, proxies, random } = settings;
  const agents = createAgents(settings);
  const slots = createSlots(settings.maxInFlight);
  const pauses = createPauses(clock, random);
  let sent = 0;
  /** Difference between the service's clock and the local clock, ms. */
  let ahead: number | undefined;

  /** Sends one attempt; resolves with the response or an error for the retry loop. Rejects only with the signal's reason. */
  async function attempt(
    request: TransportRequest,
    facts: RequestFacts,
    timeout: number,
    { signal, secrets = [] }: CallOptions,
  ): Promise<ApiResponse | ApiError> {
    signal?.throwIfAborted();
    const passwords = proxies ? proxyPasswords(proxies) : [];
    const redact = createRedaction([apiKey, ...passwords, ...(request.secrets ?? []), ...secrets]);
    const behindProxy = proxies !== undefined && !isLoopback(request.url);
    const limit = new AbortController();
    const giveUp = () => limit.abort(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    // Uses real time even with a test clock, because the timeout limits the network.
    const timer = setTimeout(() => limit.abort(), Math.min(longestTimer, timeout));
    let wentOut = false;
    try {
      const response = await exchange(agents.towards(request.url), outgoing(request, apiKey), limit.signal, () => {
        wentOut = true;
        sent += 1;
      });
      const date = Date.parse(headerOf(response, "date") ?? "");
      if (!Number.isNaN(date)) ahead = date - clock.now();
      const succeeded = response.status >= 200 && response.status < 300;
      const text = succeeded ? request.refusal?.(response.body) : refusalText(response);
      // If the limit is exhausted, no call is sent before it resets.
      const usedUp = readRateLimit(headerOf(response, "ratelimit"));
      if (usedUp !== undefined) pauses.pause(scopeOf(request), usedUp);
      if (text === undefined) return response;
      const requestedWait = readRetryAfter(headerOf(response, "retry-after"), clock.now());
      const retryAfter = response.status === 429 ? longest(requestedWait, usedUp) : requestedWait;
      const rejection = classifyResponse(
        { status: response.status, text, shown: shorten(redact(text)), retryAfter },
        facts,
      );
      return request.anyStatus && (rejection.ambiguous || !rejection.retryable) ? response : rejection;
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.signal.aborted) return noResponse(timeout, facts, wentOut);
      return classifyFault(redactFault(error, redact), facts, wentOut, behindProxy);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Waits until the scope's pause has ended and a slot is free; resolves with the time in the queue for the slot, ms. */
  async function enter(scope: string, facts: RequestFacts, end: number, options: CallOptions) {
    const { signal, waitSignal = signal, onDeadline, onPause } = options;
    let queued = 0;
    for (;;) {
      const pause = pauses.remaining(scope);
      if (pause > 0 && clock.now() + pause >= end + queued) {
        onDeadline?.();
        throw pausedTooLong(pause, facts);
      }
      if (pause >= shownPause) onPause?.({ delay: pause });
      await pauses.pass(scope, waitSignal);
      const before = clock.now();
      const leave = await slots.take(waitSignal);
      queued += clock.now() - before;
      if (pauses.remaining(scope) === 0) return { leave, queued };
      leave();
    }
  }

  async function send(request: TransportRequest, options: CallOptions = {}): Promise<ApiResponse> {
    const { signal, waitSignal = signal } = options;
    waitSignal?.throwIfAborted();
    // All calls of a deployment share a signal, which Node would report as a leak of listeners.
    for (const shared of [signal, waitSignal]) if (shared) setMaxListeners(0, shared);
    const facts = requestFacts(request);
    const scope = scopeOf(request);
    const heldFor = request.heldFor ?? 0;
    let end = clock.now() + (options.deadline ?? settings.deadline + heldFor);
    for (let tries = 1; ; tries += 1) {
      const { leave, queued } = await enter(scope, facts, end, options);
      end += queued;
      const timeout = Math.max(1, Math.min(settings.attemptTimeout + heldFor, end - clock.now()));
      const outcome = await attempt(request, facts, timeout, options).finally(leave);
      if (!(outcome instanceof ApiError)) return outcome;

      const wait = waitBeforeRetry(outcome, tries, request, random);
      const pause = outcome.retryAfter ?? (outcome.code === "rate_limited" ? wait : undefined);
      if (pause !== undefined) pauses.pause(scope, pause);
      if (wait !== undefined && clock.now() + wait >= end) options.onDeadline?.();
      if (wait === undefined || clock.now() + wait >= end) throw request.idempotent ? certain(outcome) : outcome;
      options.onRetry?.({ error: outcome, attempt: tries, delay: wait });
      await clock.sleep(wait, waitSignal);
      if (!request.confirm || !outcome.ambiguous) continue;
      const remaining = { ...options, deadline: Math.max(1, end - clock.now()) };
      const confirmed = await request.confirm(remaining).catch((error: unknown) => {
        throw isApiError(error) ? outcome : error;
      });
      if (confirmed) return confirmed;
    }
  }

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= agents.close();
    return closing;
  };

  const serviceTime = () => (ahead === undefined ? undefined : clock.now() + ahead);
  return { send, requestCount: () => sent, serviceTime, close };
}

/** The longer of two optional waits. */
const longest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

/** Returns the name of a request's rate limit. */
const scopeOf = ({ limitedWith, url }: TransportRequest): string => limitedWith ?? new URL(url).origin;

/**
 * Creates the connection pools. Loopback addresses never use a proxy, because a proxy cannot reach this machine's service, whose key must
 * not leave the machine.
 */
function createAgents({ attemptTimeout, maxInFlight, proxies }: TransportSettings) {
  const options = {
    connections: maxInFlight,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connect: { timeout: attemptTimeout },
  };
  const direct = new Agent(options);
  let proxied: EnvHttpProxyAgent | undefined;
  // Empty strings prevent undici from reading the environment.
  const through = ({ http = "", https = "", none = "" }: Proxies): EnvHttpProxyAgent =>
    new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy: none });
  return {
    towards: (url: string): Dispatcher => {
      if (!proxies || isLoopback(url)) return direct;
      proxied ??= through(proxies);
      return proxied;
    },
    close: async (): Promise<void> => {
      await Promise.all([direct.close(), proxied?.close()]);
    },
  };
}

function outgoing(request: TransportRequest, apiKey: string): Outgoing {
  const headers: Record<string, string> = {
    authorization: `Bearer ${apiKey}`,
    accept: "application/json",
    "user-agent": "serverless-compute-api",
  };
  if (request.body === undefined)
    return { method: request.method, url: new URL(request.url), headers, body: undefined };
  return {
    method: request.method,
    url: new URL(request.url),
    headers: { ...headers, "content-type": "application/json" },
    body: typeof request.body === "string" ? request.body : JSON.stringify(request.body),
  };
}

function pausedTooLong(pause: number, request: RequestFacts): ApiError {
  const seconds = Math.ceil(pause / 1000);
  return new ApiError(`the service requires a wait of ${seconds} s, which exceeds the call's deadline`, {
    category: "throttled",
    code: "rate_limited",
    request,
    retryable: true,
    ambiguous: false,
    retryAfter: pause,
  });
}
