/** The handler of the measured lags: takes `ms` and answers when it was done, ms since 1970. */
export default async ({ input }) => {
  await new Promise((resolve) => setTimeout(resolve, input.ms));
  return Date.now();
};
