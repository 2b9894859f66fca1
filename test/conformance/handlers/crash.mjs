/** Ends the worker's process in the middle of the job, after a last word on stderr. */
export default () => {
  process.stderr.write("crashed on purpose\n");
  process.exit(3);
};
