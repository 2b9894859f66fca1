import { randomBytes } from "node:crypto";
import type { WorkerTokenStore } from "../store/worker-tokens";

/** The tokens with which workers sign in, one per endpoint: whoever has it may take that endpoint's jobs and nothing else. */
export interface WorkerTokens {
  /** The endpoint's token, made when it is first asked for. */
  of(endpointId: string): string;
  /** A worker elsewhere signed in with the endpoint's token. */
  joinedElsewhere(endpointId: string): void;
  /** Whether one ever did. */
  hasJoinedElsewhere(endpointId: string): boolean;
  forget(endpointId: string): void;
}

export function createWorkerTokens(store: WorkerTokenStore): WorkerTokens {
  const known = new Map<string, string>();
  const usedElsewhere = new Set(store.usedElsewhere());
  return {
    of(endpointId) {
      const token = known.get(endpointId) ?? store.read(endpointId) ?? make(endpointId);
      known.set(endpointId, token);
      return token;
    },
    joinedElsewhere(endpointId) {
      if (usedElsewhere.has(endpointId)) return;
      usedElsewhere.add(endpointId);
      store.noteElsewhere(endpointId);
    },
    hasJoinedElsewhere: (endpointId) => usedElsewhere.has(endpointId),
    forget(endpointId) {
      known.delete(endpointId);
      usedElsewhere.delete(endpointId);
      store.remove(endpointId);
    },
  };

  function make(endpointId: string): string {
    const token = randomBytes(24).toString("hex");
    store.insert(endpointId, token);
    return token;
  }
}
