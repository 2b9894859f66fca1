/** Throws an Error with `input.message`, or returns `{error}` if `input.answer` is true. */
export default (job) => {
  const message = job.input.message ?? "failed on purpose";
  if (job.input.answer) return { error: message };
  throw new Error(message);
};
