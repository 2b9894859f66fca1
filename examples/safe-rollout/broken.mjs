/** Stands for the image acme/echo:2, which nobody has tried. */
export default () => {
  throw new Error("failed on purpose");
};
