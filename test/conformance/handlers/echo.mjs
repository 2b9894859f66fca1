/** Returns the input unchanged. */
export default (job) => job.input;
