import type { FastifyReply } from "fastify";

/** Calls `onClose` if the client closes its connection before the response is complete. */
export function onDisconnect({ raw }: Pick<FastifyReply, "raw">, onClose: () => void): void {
  if (raw.destroyed) onClose();
  else
    raw.once("close", () => {
      if (!raw.writableFinished) onClose();
    });
}

/** A signal that aborts if the client closes its connection before the response is complete. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  onDisconnect(reply, () => controller.abort());
  return controller.signal;
}

/** Undoes the effect of a request when its client disconnects; a failure is ignored. */
export function onAbort(signal: AbortSignal, undo: () => Promise<unknown>): void {
  const runUndo = (): void => void undo().catch(() => undefined);
  if (signal.aborted) runUndo();
  else signal.addEventListener("abort", runUndo);
}

/** Reports at the end of a response whether it was sent completely. */
export function onResponseEnd({ raw }: FastifyReply, report: (isDelivered: boolean) => Promise<unknown>): void {
  const finish = (): void => void report(raw.writableFinished).catch(() => undefined);
  if (raw.destroyed) finish();
  else raw.once("close", finish);
}
