import { relative } from "node:path";
import { inspect } from "node:util";
import { root } from "../entry.mjs";
import { paths } from "./paths.mjs";

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);

/**
 * The stack's outputs, one per line.
 * @param {Record<string, unknown>} outputs
 */
export function showOutputs(outputs) {
  const width = Math.max(...Object.keys(outputs).map((name) => name.length));
  print("\nOutputs of the stack:");
  for (const [name, value] of Object.entries(outputs)) {
    const text = typeof value === "string" ? value : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
    print(`  ${name.padEnd(width)}  ${text}`);
  }
}

/**
 * Reports whether the job's output proves that the worker received the secret.
 * @param {unknown} answer
 * @param {string} fingerprint Output of a worker with the secret.
 * @returns {boolean}
 */
export function showOutput(answer, fingerprint) {
  const hasFingerprint = typeof answer === "object" && answer !== null && "tokenFingerprint" in answer;
  const right = hasFingerprint && answer.tokenFingerprint === fingerprint;
  print(
    right
      ? "The output comes from a worker process that received the secret: the fingerprint matches."
      : `The output does not contain the secret's fingerprint, ${fingerprint}: the worker did not receive the secret.`,
  );
  return right;
}

/**
 * Next steps for the user while the service runs.
 * @param {string} serverlessUrl
 * @param {Record<string, unknown>} outputs
 */
export function showNext(serverlessUrl, outputs) {
  const data = relative(root, paths.service);
  const rows = [
    ["npm run pulumi -- preview", "shows no changes"],
    ["npm run pulumi -- refresh", "compares the state with the service"],
    ["npm run pulumi -- stack", "lists the resources"],
    ["npm run pulumi -- up", "deploys your changes to examples/quickstart/index.ts, for example `workersMax: 2`"],
    ["npm run pulumi -- destroy", "deletes the resources"],
  ];
  const width = Math.max(...rows.map(([command = ""]) => command.length));
  print("\nThe service runs until you press Ctrl-C. Next steps, in another terminal:");
  for (const [command = "", what] of rows) print(`  ${command.padEnd(width)}   ${what}`);
  print("\nTo open the console, print a new link:");
  print(`  node service/bin/serverless-compute-local.js open --data ${data}`);
  print("\nOr send a request to the endpoint:");
  print(`  KEY=$(node service/bin/serverless-compute-local.js key --data ${data})`);
  print(`  curl ${outputs["url"] ?? serverlessUrl}/runsync -H "authorization: Bearer $KEY" \\`);
  print(`    -H "content-type: application/json" -d '{"input": {"name": "you"}}'`);
}
