/** The given percentile of the values; NaN if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN;
}

/** The median; for an even count, the upper middle value. */
export const median = (values: readonly number[]): number => percentile(values, 50);
