/** Handler of the measurements: returns its input. */
export default (job) => job.input;
