import type { FastifyReply } from "fastify";

/** A signal that aborts when the client is gone before its answer was sent whole. */
export function abortWhenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (reply.raw.closed) gone.abort();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Undoes what an answer did when it does not arrive. A service that ends meanwhile undoes it at its next start. */
export function whenGone(gone: AbortSignal, undo: () => Promise<unknown>): void {
  const begin = (): void => void undo().catch(() => undefined);
  if (gone.aborted) begin();
  else gone.addEventListener("abort", begin, { once: true });
}

/** Tells when an answer is over whether it was sent whole. */
export function whenAnswered(reply: FastifyReply, tell: (arrived: boolean) => Promise<unknown>): void {
  const over = (): void => void tell(reply.raw.writableFinished).catch(() => undefined);
  if (reply.raw.closed) over();
  else reply.raw.once("close", over);
}
