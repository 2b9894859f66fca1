/** Stands for the image: says where its models are. */
export default () => ({ models: process.env.HF_HOME, model: process.env.MODEL });
