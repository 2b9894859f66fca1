/**
 * Returns a signal that aborts after `ms`, and with `signal`. In Node 20, the garbage collector may remove an `AbortSignal.timeout` in an
 * `AbortSignal.any`, which then never aborts.
 */
export function timeoutSignal(ms: number, signal: AbortSignal): AbortSignal {
  const timeout = new AbortController();
  setTimeout(() => timeout.abort(), ms).unref();
  return AbortSignal.any([timeout.signal, signal]);
}
