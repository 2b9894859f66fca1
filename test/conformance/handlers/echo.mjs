/** Answers the input as it is. */
export default (job) => job.input;
