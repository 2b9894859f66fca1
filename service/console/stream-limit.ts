import { ServiceError } from "../errors";

/** Maximum number of open event streams of a session: a browser opens at most six connections per host for all its pages. */
const maxStreams = 6;

/** Counts the open event streams of each session, because every stream reads all endpoints and resources every second. */
export function createStreamLimit() {
  const open = new Map<string, number>();
  return {
    /** Counts a new stream; throws a ServiceError if the session has too many. Returns a function that ends its count. */
    add(session: string): () => void {
      const count = (open.get(session) ?? 0) + 1;
      if (count > maxStreams)
        throw new ServiceError(
          "tooManyRequests",
          `event streams: this session already has ${maxStreams}, the maximum; close a page of the console`,
          { "retry-after": "1" },
        );
      open.set(session, count);
      return () => {
        const remaining = (open.get(session) ?? 1) - 1;
        if (remaining > 0) open.set(session, remaining);
        else open.delete(session);
      };
    },
  };
}
