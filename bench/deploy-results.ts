/** Commands of a round, in order. */
export const steps = ["up", "preview", "refresh", "destroy"] as const;
export type Step = (typeof steps)[number];

/** Medians of one provider for a number of resources. */
export interface DeployRow {
  by: string;
  resources: number;
  /** Seconds of each command, from its start to its end. */
  seconds: Record<Step, number>;
  /**
   * Median ratio of this provider's time to the time of the provider compared with, in the same round. Absent for that
   * provider.
   */
  ratio?: { to: string; of: Record<Step, number> };
  /** Cost of each command besides time, measured in a separate round. */
  usage: Record<Step, Usage>;
}

/** Processes that take part in a command. */
export const roles = ["engine", "language host", "provider", "service"] as const;
export type Role = (typeof roles)[number];

/** Cost of one command besides its time. */
export interface Usage {
  /** Number of requests to the service by method and path, with `*` in place of an id. */
  requests: Record<string, number>;
  /** Processor time, ms. */
  cpu: Record<Role, number>;
  /** Peak memory of the provider's process, MiB. */
  memory: number;
}

/** Number of requests of all kinds. */
export const totalOf = (requests: Usage["requests"]): number =>
  Object.values(requests).reduce((sum, count) => sum + count, 0);

/**
 * Maximum ratios to the floor, which the quick measurement checks. They exceed those of an idle machine (docs/performance.md), because
 * its machine has other load.
 */
const maxRatios: Record<string, Record<Step, number>> = {
  "plugin under Node": { up: 1.4, preview: 1.25, refresh: 1.4, destroy: 1.4 },
  "dynamic resources": { up: 1.25, preview: 1.25, refresh: 1.25, destroy: 1.25 },
};

/** A sentence for each ratio above its limit. */
export const exceededRatios = (rows: DeployRow[]): string[] =>
  rows.flatMap(({ by, resources, ratio }) =>
    steps.flatMap((step) => {
      const [value, limit] = [ratio?.of[step] ?? 0, maxRatios[by]?.[step] ?? Number.POSITIVE_INFINITY];
      return value > limit
        ? [`${by}, ${resources} resources, ${step}: ${value.toFixed(2)} of ${ratio?.to}; at most ${limit}`]
        : [];
    }),
  );
