/** Stands for the image: gives back what it got. */
export default ({ input }) => input;
