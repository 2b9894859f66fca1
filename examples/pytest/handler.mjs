export default ({ input }) => ({ text: `${process.env.GREETING}, ${input.name}` });
