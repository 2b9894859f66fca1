/** Stands in for the image acme/echo:2, which has not been tested. */
export default () => {
  throw new Error("failed on purpose");
};
