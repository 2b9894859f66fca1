/** Stands for the image: what it returns is the job's output. */
export default ({ input }) => ({ youSaid: input.text });
