/** Stands in for the image: returns each job's input. */
export default ({ input }) => input;
