import type { FastifyReply } from "fastify";

/** Calls `disconnected` if the client closes its connection before the response is complete. */
export function onDisconnect({ raw }: Pick<FastifyReply, "raw">, left: () => void): void {
  if (raw.closed) left();
  else
    raw.once("close", () => {
      if (!raw.writableFinished) left();
    });
}

/** A signal that aborts if the client closes its connection before the response is complete. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  onDisconnect(reply, () => gone.abort());
  return gone.signal;
}

/** Undoes the effect of a request when its client disconnects. If the service ends before that, it does so at its next start. */
export function onAbort(gone: AbortSignal, undo: () => Promise<unknown>): void {
  const begin = (): void => void undo().catch(() => undefined);
  if (gone.aborted) begin();
  else gone.addEventListener("abort", begin, { once: true });
}

/** Reports at the end of a response whether it was sent completely. */
export function onResponseEnd({ raw }: FastifyReply, report: (arrived: boolean) => Promise<unknown>): void {
  const over = (): void => void report(raw.writableFinished).catch(() => undefined);
  if (raw.closed) over();
  else raw.once("close", over);
}
