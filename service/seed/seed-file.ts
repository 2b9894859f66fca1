import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Document, isPair, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { z } from "zod";
import { codeOf, messageOf, ServiceError, StartError } from "../errors";
import { faultShape } from "../faults/faults";
import { simulationShape } from "../options";
import { checkStock } from "../resources/stock";
import { commandLineOf } from "../resources/template-table";
import { checkParsedText, parseInput } from "../validation";
import { CommandLineError, splitCommandLine } from "../workers/command-line";
import { resolveFiles } from "../workers/handler-files";
import { runtimeNames } from "../workers/runtimes";
import { kubernetesShape } from "../workers/runtimes/pod/settings";

/** Objects by name. The create operations of REST v2 validate their properties. */
const objects = <Shape extends z.ZodRawShape>(fields: Shape) => z.record(z.string(), z.looseObject(fields)).default({});

const seedShape = z.strictObject({
  images: z.record(z.string(), z.string()).default({}),
  simulate: simulationShape.prefault({}),
  runtime: z.enum(runtimeNames).optional(),
  kubernetes: kubernetesShape.partial().optional(),
  secrets: objects({ valueFromEnv: z.string().optional() }),
  volumes: objects({}),
  templates: objects({}),
  endpoints: objects({
    template: z.string().optional(),
    networkVolumes: z.array(z.string()).optional(),
    faults: faultShape.optional(),
  }),
});

/** A parsed seed file; the commands of its images contain absolute paths. */
export interface Seed extends z.output<typeof seedShape> {
  /** Path of the file, for messages. */
  file: string;
}

/** Reads a seed file in YAML or JSON. Throws a StartError that names the path in the file, the value and the allowed values. */
export function readSeedFile(path: string): Seed {
  const file = resolve(path);
  return withFile(file, () => {
    const content = parseText(readText(file));
    checkParsedText(content, "invalid");
    const seed = parseInput(seedShape, content);
    checkStock(seed.simulate.stock);
    const images = Object.entries(seed.images).map(([name, command]) => [name, resolveCommand(file, name, command)]);
    return { ...seed, images: Object.fromEntries(images), file };
  });
}

/** Runs `work`; its ServiceError becomes a StartError that names the file. */
export function withFile<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    // The parser is recursive.
    if (error instanceof RangeError) throw new StartError(`${file}: nests too deeply; write fewer levels`);
    if (!(error instanceof ServiceError)) throw error;
    throw new StartError(`${file}: ${error.message}`);
  }
}

function readText(file: string): string {
  try {
    // A pipe or a device may never end.
    if (!statSync(file).isFile()) throw new ServiceError("invalid", "is not a file; specify a YAML or JSON file");
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (codeOf(error) === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw new ServiceError("invalid", "is not text in UTF-8; specify a YAML or JSON file");
    throw new ServiceError("invalid", `cannot be read (${codeOf(error)}); specify an existing seed file`);
  }
}

/** An empty file is an empty seed. */
function parseText(text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    // The parser compares each key with all others of its map, which takes seconds for a large file.
    uniqueKeys: false,
    // Pretty errors contain lines of the file.
    prettyErrors: false,
    // A set or an ordered map would become an object without properties.
    resolveKnownTags: false,
    lineCounter,
  });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new ServiceError("invalid", `${error.message} at line ${line}, column ${col}`);
  }
  checkKeys(document);
  try {
    return document.toJS() ?? {};
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new ServiceError("invalid", `${messageOf(error)}; write repeated values without aliases`);
  }
}

const keyOf = (node: unknown): unknown => (isPair(node) && isScalar(node.key) ? node.key.value : undefined);

/** Throws a ServiceError for a key that occurs twice in a map, and for `__proto__`. */
function checkKeys(document: Document): void {
  visit(document, {
    Map(_, { items }, parents) {
      const keys = new Set<unknown>();
      for (const key of items.map(keyOf).filter((one) => one !== undefined)) {
        const path = (): string => [...parents.map(keyOf).filter((parent) => parent !== undefined), key].join(".");
        if (keys.has(key)) throw new ServiceError("invalid", `${path()}: occurs twice; delete or rename one`);
        // Objects in JavaScript, and shapes of zod, do not have this key.
        if (key === "__proto__") throw new ServiceError("invalid", `${path()}: is not allowed`);
        keys.add(key);
      }
    },
  });
}

/** Resolves the program of a command, if it is a path, and source files relative to the seed file. */
function resolveCommand(file: string, name: string, command: string): string {
  const invalidImage = (text: string) => new ServiceError("invalid", `images.${name}: ${text}`);
  const words = commandWords();
  if (words.length === 0) throw invalidImage("must be a handler file or a command line");
  return commandLineOf(words);

  function commandWords(): string[] {
    try {
      return resolveFiles(splitCommandLine(command), dirname(file));
    } catch (error) {
      if (error instanceof CommandLineError) throw invalidImage(error.message);
      throw error;
    }
  }
}
