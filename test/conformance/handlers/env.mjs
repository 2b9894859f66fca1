/** Answers the environment variables that `input.names` lists, null where one is not set. */
export default (job) => Object.fromEntries(job.input.names.map((name) => [name, process.env[name] ?? null]));
