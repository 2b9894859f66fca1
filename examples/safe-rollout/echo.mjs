/** Stands in for the image acme/echo:1: returns each job's input. */
export default ({ input }) => input;
