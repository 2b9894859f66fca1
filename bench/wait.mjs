/** Handler of the measured lags: waits `ms` and returns the time of its end, ms since 1970. */
export default async ({ input }) => {
  await new Promise((resolve) => setTimeout(resolve, input.ms));
  return Date.now();
};
