import type { FastifyReply } from "fastify";

/** Calls `left` when the client closes its connection before it has the whole response. */
export function onDisconnect({ raw }: Pick<FastifyReply, "raw">, left: () => void): void {
  if (raw.closed) left();
  else
    raw.once("close", () => {
      if (!raw.writableFinished) left();
    });
}

/** A signal that aborts when the client closes its connection before it has the whole response. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  onDisconnect(reply, () => gone.abort());
  return gone.signal;
}

/** Undoes what a request did when its client disconnects. A service that ends meanwhile undoes it at its next start. */
export function onAbort(gone: AbortSignal, undo: () => Promise<unknown>): void {
  const begin = (): void => void undo().catch(() => undefined);
  if (gone.aborted) begin();
  else gone.addEventListener("abort", begin, { once: true });
}

/** Reports when a response is over whether it was sent whole. */
export function onResponseEnd({ raw }: FastifyReply, report: (arrived: boolean) => Promise<unknown>): void {
  const over = (): void => void report(raw.writableFinished).catch(() => undefined);
  if (raw.closed) over();
  else raw.once("close", over);
}
