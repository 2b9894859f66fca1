/** Returns the environment variables listed in `input.names`; `null` for an unset variable. */
export default (job) => Object.fromEntries(job.input.names.map((name) => [name, process.env[name] ?? null]));
