/** Stands in for the image: returns the path of its models. */
export default () => ({ models: process.env.HF_HOME, model: process.env.MODEL });
