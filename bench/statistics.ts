/** The value below which `share` of 100 values lie; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN;
}

/** The middle value; with an even count the upper one of the two. */
export const median = (values: readonly number[]): number => percentile(values, 50);
