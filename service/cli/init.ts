import { existsSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { stringify } from "yaml";
import { codeOf, StartError } from "../errors";
import { commandLineOf } from "../resources/template-table";
import type { Output } from "./output";

/** Name of the seed file that `init` writes. */
const seedName = "endpoints.yaml";

const handlerText = `/** Runs one job: \`input\` is the job's input, and the returned value its output. */
export default async ({ input }) => ({ said: input.text });
`;

const seedText = (
  command: string,
): string => `# Seed file of the local service: npx --no serverless-compute-local start --seed ${seedName}
# The service creates missing objects. It compares existing objects, and never changes or deletes them.
# Each object is the body of its create request in REST v2. Its key is its name.

# Image → handler file or command line. Paths of programs and source files are relative to this file.
images:
  acme/echo:1: ${command}

# The value of a secret is read from an environment variable of the service.
#secrets:
#  token: { valueFromEnv: HF_TOKEN, description: downloads models }

#volumes:
#  models: { size: 10, dataCenter: EU-RO-1 }

# Stock of GPU types, and the maximum sum of workersMax. Jobs of an endpoint without stock wait.
#simulate: { stock: { NVIDIA L4: NONE }, workerQuota: 20 }

# A template is a container for several endpoints.
#templates:
#  base: { image: acme/base:1, serverless: true, env: { MODE: shared } }

endpoints:
  echo:
    image: acme/echo:1
    env:
      MODE: local
#      TOKEN: "{{ RUNPOD_SECRET_token }}"
    # Names of a template and of network volumes in this file or in the service. Values here override the template's.
#    template: base
#    networkVolumes: [models]
#    faults: { delay: 500, failJobs: 1 }
    type: QUEUE
    gpu: { pools: [AMPERE_24], count: 1 }
    workers: { min: 0, max: 2, idleTimeout: 5 }
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
`;

/** The command of the Python of a virtual environment in a folder; without one, of the Python on PATH. */
function pythonIn(folder: string): string {
  const environment = ["venv", ".venv"].find((name) => existsSync(join(folder, name, "bin/python")));
  return environment === undefined ? "python3" : `./${environment}/bin/python`;
}

/** Writes a commented seed file next to a handler, and the handler if it does not exist. Never overwrites files. */
export function init(handler: string, output: Output): void {
  const seed = join(dirname(handler), seedName);
  if (existsSync(seed)) throw new StartError(`${seed}: already exists; edit it, or choose a handler in another folder`);
  const isNew = !existsSync(handler);
  if (isNew && extname(handler) !== ".mjs")
    throw new StartError(`${handler}: does not exist; specify an existing handler, or a new one that ends in .mjs`);
  if (!isNew && !statSync(handler).isFile()) throw new StartError(`${handler}: is not a file; specify a handler file`);
  const file = `./${basename(handler)}`;
  const words = extname(handler) === ".py" ? [pythonIn(dirname(handler)), "-u", file] : [file];
  // Before the seed file, whose existence ends the next attempt.
  if (isNew) write(handler, handlerText);
  // In one line, however long it is.
  write(seed, seedText(stringify(commandLineOf(words), { lineWidth: 0, blockQuote: false }).trimEnd()));
  output.out(`Created ${isNew ? `${handler} and ` : ""}${seed}. Start the service:

  npx --no serverless-compute-local start ${commandLineOf(["--seed", seed])} --watch
  npx --no serverless-compute-local run echo '{"text":"hello"}' --sync`);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    throw new StartError(`${file}: cannot be written (${codeOf(error)}); choose another file or folder`);
  }
}
