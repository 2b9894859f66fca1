/** The handler of the measurements: answers its input. */
export default (job) => job.input;
