/** Stands in for the image: its return value is the job's output. */
export default ({ input }) => ({ youSaid: input.text });
