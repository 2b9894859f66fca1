import { setMaxListeners } from "node:events";
import { isLoopback, requestInfo } from "./address";
import { type Clock, maxTimerDelay } from "./clock";
import { classifyFault } from "./connection-faults";
import {
  ApiError,
  classifyResponse,
  isApiError,
  noResponse,
  type RequestInfo,
  requireTimeout,
  toJson,
  unambiguous,
} from "./errors";
import type { CallOptions } from "./management";
import { createPauses, createSlots } from "./pacing";
import { proxyPasswords } from "./proxies";
import { createRedaction, redactFault } from "./redaction";
import { type ApiResponse, errorTextOf, headerOf, toMessage } from "./response";
import { type RetryRules, readRateLimit, readRetryAfter, waitBeforeRetry } from "./retry";
import { type AgentSettings, createAgents, type HttpRequest, sendOnce } from "./send-once";

/** Settings of a transport; times in milliseconds. */
export interface TransportSettings extends AgentSettings {
  apiKey: string;
  /** Timeout of a call with all attempts and waits, excluding the time in the queue for a free slot. */
  callTimeout: number;
  clock: Clock;
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

/** The request of a call, as described by a dialect. */
export interface TransportRequest extends RetryRules {
  method: HttpRequest["method"];
  url: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Additional headers. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Receives the text of a successful response in parts as it arrives, the first part empty and with the head. The response itself is then
   * empty. The timeout of the attempt ends with the first part.
   */
  onText?: (part: string) => void;
  /** Name of the GraphQL operation. */
  operation?: string;
  /** Values to redact from errors, besides the key. */
  secrets?: readonly string[];
  /** Name of the rate limit; a 429 pauses all calls with the same name. Defaults to the URL's origin. */
  rateLimitScope?: string;
  /** Maximum time before the service responds, such as the wait of a long poll, ms; added to the timeouts. */
  serverWait?: number;
  /** Reads the object after an ambiguous failure: its record if the change was applied, undefined if not. Rejects if unknown. */
  confirm?: (options: CallOptions) => Promise<ApiResponse | undefined>;
  /** True to treat every status as success, except responses that certainly reached no worker, which are retried. */
  anyStatus?: boolean;
  /** Reads the error from a successful response, as in GraphQL. */
  errorTextOf?: (body: unknown) => string | undefined;
}

/** Sends requests and retries them if that is safe. Resolves only on success; otherwise rejects with an ApiError. */
export interface Transport {
  send(request: TransportRequest, options?: CallOptions): Promise<ApiResponse>;
  /** Number of attempts sent. */
  requestCount(): number;
  /** Waits for calls in progress; later calls reject. */
  close(): Promise<void>;
}

/** Minimum length of a reported pause, ms. */
const minReportedPause = 1000;

/** Creates the transport for all calls, with connection pools, the key, timeouts, retries and redaction. */
export function createTransport(settings: TransportSettings): Transport {
  const { apiKey, clock, proxies, random } = settings;
  const agents = createAgents(settings);
  const slots = createSlots(settings.maxInFlight);
  const pauses = createPauses(clock, random);
  let sent = 0;

  /** Sends one attempt; resolves with the response or an error for the retry loop. Rejects only with the signal's reason. */
  async function attempt(
    request: TransportRequest & { httpRequest: HttpRequest },
    info: RequestInfo,
    timeout: number,
    { signal, secrets = [] }: CallOptions,
  ): Promise<ApiResponse | ApiError> {
    signal?.throwIfAborted();
    const passwords = proxies ? proxyPasswords(proxies) : [];
    const redact = createRedaction([apiKey, ...passwords, ...(request.secrets ?? []), ...secrets]);
    // A proxy cannot reach this machine's service, whose key must not leave the machine.
    const behindProxy = proxies !== undefined && !isLoopback(request.url);
    const attemptController = new AbortController();
    const abortAttempt = () => attemptController.abort(signal?.reason);
    signal?.addEventListener("abort", abortAttempt);
    // Uses real time even with a test clock, because the timeout limits the network.
    const timer = setTimeout(() => attemptController.abort(), Math.min(maxTimerDelay, timeout));
    const passText = (part: string): void => {
      clearTimeout(timer);
      request.onText?.(part);
    };
    let wasSent = false;
    try {
      const response = await sendOnce(
        agents.agentFor(behindProxy),
        { ...request.httpRequest, onText: request.onText && passText },
        attemptController.signal,
        () => {
          wasSent = true;
          sent += 1;
        },
      );
      const date = Date.parse(headerOf(response, "date") ?? "");
      const succeeded = response.status >= 200 && response.status < 300;
      // The status and the limits of a worker's response are those of the worker.
      if (request.anyStatus && headerOf(response, "x-worker-id") !== undefined) return response;
      const text = succeeded ? request.errorTextOf?.(response.body) : errorTextOf(response);
      // If the limit is exhausted, no call is sent before it resets.
      const resetDelay = readRateLimit(headerOf(response, "ratelimit"));
      if (resetDelay !== undefined) pauses.pause(rateLimitScopeOf(request), resetDelay);
      if (text === undefined) return response;
      const requestedWait = readRetryAfter(headerOf(response, "retry-after"), Number.isNaN(date) ? clock.now() : date);
      const retryAfter = response.status === 429 ? longerWait(requestedWait, resetDelay) : requestedWait;
      const rejection = classifyResponse(
        { status: response.status, text, redactedText: toMessage(text, redact), retryAfter },
        info,
      );
      return request.anyStatus && (rejection.ambiguous || !rejection.retryable) ? response : rejection;
    } catch (error) {
      signal?.throwIfAborted();
      if (attemptController.signal.aborted) return noResponse(timeout, info, wasSent);
      return classifyFault(redactFault(error, redact), info, wasSent, behindProxy);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abortAttempt);
    }
  }

  /** Waits until the scope's pause has ended and a slot is free; resolves with the time in the queue for the slot, ms. */
  async function waitForSlot(scope: string, info: RequestInfo, deadline: number, options: CallOptions) {
    const { signal, waitSignal = signal, onDeadline, onPause } = options;
    let queueTime = 0;
    for (;;) {
      const pause = pauses.remaining(scope);
      if (pause > 0 && clock.now() + pause >= deadline + queueTime) {
        onDeadline?.();
        throw pauseExceedsDeadline(pause, info);
      }
      if (pause >= minReportedPause) onPause?.({ delay: pause });
      await pauses.wait(scope, waitSignal);
      const waitStart = clock.now();
      const releaseSlot = await slots.acquire(waitSignal);
      queueTime += clock.now() - waitStart;
      if (pauses.remaining(scope) === 0) return { releaseSlot, queueTime };
      releaseSlot();
    }
  }

  async function send(request: TransportRequest, options: CallOptions = {}): Promise<ApiResponse> {
    const { signal, waitSignal = signal } = options;
    waitSignal?.throwIfAborted();
    // All calls of a deployment share a signal, which Node would report as a leak of listeners.
    for (const listenedSignal of [signal, waitSignal]) if (listenedSignal) setMaxListeners(0, listenedSignal);
    const info = requestInfo(request);
    const scope = rateLimitScopeOf(request);
    const serverWait = request.serverWait ?? 0;
    const { timeout: callTimeout = settings.callTimeout + serverWait } = options;
    requireTimeout(callTimeout, info);
    const httpRequest = toHttpRequest(request, apiKey, info);
    let deadline = clock.now() + callTimeout;
    for (let attempts = 1; ; attempts += 1) {
      const { releaseSlot, queueTime } = await waitForSlot(scope, info, deadline, options);
      deadline += queueTime;
      const timeout = Math.max(1, Math.min(settings.attemptTimeout + serverWait, deadline - clock.now()));
      const outcome = await attempt({ ...request, httpRequest }, info, timeout, options).finally(releaseSlot);
      if (!(outcome instanceof ApiError)) return outcome;

      const wait = waitBeforeRetry(outcome, attempts, request, random);
      const pause = outcome.retryAfter ?? (outcome.code === "rate_limited" ? wait : undefined);
      if (pause !== undefined) pauses.pause(scope, pause);
      if (wait !== undefined && clock.now() + wait >= deadline) options.onDeadline?.();
      if (wait === undefined || clock.now() + wait >= deadline)
        throw request.idempotent ? unambiguous(outcome) : outcome;
      options.onRetry?.({ error: outcome, attempt: attempts, delay: wait });
      await clock.sleep(wait, waitSignal);
      if (!request.confirm || !outcome.ambiguous) continue;
      const remainingOptions = { ...options, timeout: Math.max(1, deadline - clock.now()) };
      const confirmed = await request.confirm(remainingOptions).catch((error: unknown) => {
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

  return { send, requestCount: () => sent, close };
}

/** The longer of two optional waits. */
const longerWait = (first: number | undefined, second: number | undefined): number | undefined =>
  first === undefined || second === undefined ? (first ?? second) : Math.max(first, second);

/** Returns the name of a request's rate limit. */
const rateLimitScopeOf = ({ rateLimitScope, url }: TransportRequest): string => rateLimitScope ?? new URL(url).origin;

function toHttpRequest(request: TransportRequest, apiKey: string, info: RequestInfo): HttpRequest {
  const headers: Record<string, string> = {
    authorization: `Bearer ${apiKey}`,
    accept: "application/json",
    "user-agent": "serverless-compute-api",
    ...request.headers,
  };
  if (request.body === undefined)
    return { method: request.method, url: new URL(request.url), headers, body: undefined };
  return {
    method: request.method,
    url: new URL(request.url),
    headers: { ...headers, "content-type": "application/json" },
    body: typeof request.body === "string" ? request.body : toJson(request.body, "the body", info),
  };
}

function pauseExceedsDeadline(pause: number, request: RequestInfo): ApiError {
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
