/** Stands in for the image. */
export default ({ input }) => ({ text: `${process.env.GREETING}, ${input.name}!` });
