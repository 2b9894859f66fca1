import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { showValue } from "serverless-compute-api/shapes";
import { ServiceError } from "../errors";
import type { Resources } from "../resources";
import { isHidden } from "../validation";
import { type Seed, withFile } from "./seed-file";

/** The outcome of seeding. */
interface Seeded {
  /** Created objects, as `section.name`. */
  created: string[];
  /** A message for each property of an existing object that differs from the file. */
  differences: string[];
  /** Ids of the file's endpoints by name. */
  endpointIds: Record<string, string>;
}

type Fields = Record<string, unknown>;
type Row = { id: string; name: string };

/** Operations of REST v2 for a kind of object. */
interface Operations {
  get(id: string): unknown;
  create(body: unknown): unknown;
}

/** An object of the file. */
interface Entry {
  /** Its path in the file. */
  path: string;
  name: string;
  noun: Operations;
  /** Id of the existing object; undefined if there is none. */
  id: string | undefined;
  /** Returns the body of the create request, without the name. */
  body(): Fields;
}

const invalid = (text: string): ServiceError => new ServiceError("invalid", text);

/** The id of the row with a name; undefined if it does not exist. */
function findId(rows: Row[], path: string, name: string): string | undefined {
  const matches = rows.filter((row) => row.name === name);
  if (matches.length > 1)
    throw invalid(`${path}: the service has ${matches.length} objects with this name; delete or rename all but one`);
  return matches[0]?.id;
}

/**
 * Creates missing objects of a seed file with the create operations of REST v2, and compares existing objects. Kind and name identify an
 * object. An invalid file throws a StartError and creates nothing.
 */
export function applySeed(
  seed: Seed,
  resources: Resources,
  nouns: Record<"/account/secrets" | "/network-volumes" | "/templates" | "/serverless", Operations>,
  /** Returns the value of an environment variable. */
  environmentValue: (name: string) => string | undefined,
): Seeded {
  const { secrets, volumes, templates, endpoints, transaction } = resources;

  const referencedId = (rows: Row[], path: string, noun: string, name: string): string => {
    const id = findId(rows, path, name);
    if (id === undefined)
      throw invalid(`${path}: ${noun} "${name}" does not exist; specify an object of the file or of the service`);
    return id;
  };
  const secretBody = (
    { valueFromEnv, value: literalValue, ...rest }: Seed["secrets"][string],
    path: string,
  ): Fields => {
    if (literalValue !== undefined)
      throw invalid(`${path}.value: unknown property; specify an environment variable in valueFromEnv`);
    const value = environmentValue(valueFromEnv);
    if (value === undefined)
      throw invalid(`${path}.valueFromEnv: the environment variable "${valueFromEnv}" is not set; set it`);
    return { ...rest, value };
  };
  const endpointBody = (
    { template, networkVolumes, faults, ...rest }: Seed["endpoints"][string],
    path: string,
  ): Fields => ({
    ...rest,
    ...(template !== undefined && {
      templateId: referencedId(templates.list(), `${path}.template`, "template", template),
    }),
    ...(networkVolumes && {
      networkVolumes: networkVolumes.map((name) =>
        referencedId(volumes.list(), `${path}.networkVolumes`, "network volume", name),
      ),
    }),
  });

  /** Visits the file's objects, each after the objects that it references. */
  function visit(visitor: (entry: Entry) => void): void {
    const visitSection = <Definition>(
      section: string,
      entries: Record<string, Definition>,
      noun: Entry["noun"],
      rows: () => Row[],
      body: (definition: Definition, path: string) => Fields,
    ): void => {
      for (const [name, definition] of Object.entries(entries)) {
        const path = `${section}.${name}`;
        visitor({ path, name, noun, id: findId(rows(), path, name), body: () => body(definition, path) });
      }
    };
    visitSection("secrets", seed.secrets, nouns["/account/secrets"], secrets.list, secretBody);
    visitSection("volumes", seed.volumes, nouns["/network-volumes"], volumes.list, (fields) => fields);
    visitSection(
      "templates",
      seed.templates,
      nouns["/templates"],
      () => templates.list(),
      (fields) => fields,
    );
    visitSection("endpoints", seed.endpoints, nouns["/serverless"], endpoints.list, endpointBody);
  }

  /** Creates missing objects, and a twin of each existing object to compare their records; then rolls back. */
  function findDifferences(): string[] {
    const differences: string[] = [];
    runAndRollBack(transaction, () =>
      visit((entry) => {
        if (entry.id === undefined) return void create(entry, entry.name);
        const { value } = entry.body();
        if (typeof value === "string" && value !== secrets.valueOf(entry.name))
          differences.push(`${entry.path}.value: differs from the service`);
        const twin = create(entry, `seed-${randomUUID()}`);
        differences.push(...differencesOf(entry.path, settingsOf(twin), settingsOf(entry.noun.get(entry.id))));
      }),
    );
    return differences;
  }

  return withFile(seed.file, () => {
    // Validates the whole file.
    findDifferences();
    const created: string[] = [];
    transaction(() =>
      visit((entry) => {
        if (entry.id !== undefined) return;
        create(entry, entry.name);
        created.push(entry.path);
      }),
    );
    const endpointIds = Object.keys(seed.endpoints).map((name) => [name, findId(endpoints.list(), "endpoints", name)]);
    return { created, differences: findDifferences(), endpointIds: Object.fromEntries(endpointIds) };
  });
}

/** Creates an object; errors name its path. */
function create({ path, noun, body }: Entry, name: string): unknown {
  const fields = body();
  try {
    return noun.create({ ...fields, name });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const faults = error.faults.length > 0 ? error.faults : [error.message];
    throw invalid(faults.map((fault) => `${path}${/^[\w.]+: /.test(fault) ? "." : ": "}${fault}`).join("; "));
  }
}

/** Runs `work` in a transaction that is rolled back. */
function runAndRollBack(transaction: Resources["transaction"], work: () => void): void {
  const rollback = new Error("rolled back");
  try {
    transaction(() => {
      work();
      throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A record without its name and without properties that requests cannot set. */
function settingsOf(record: unknown): unknown {
  if (!isObject(record)) return record;
  const { id, name, createdAt, requestUrls, valueLastUpdatedAt, ...settings } = record;
  return settings;
}

/** Differences between the record that the file would create and the existing record. */
function differencesOf(path: string, file: unknown, service: unknown): string[] {
  if (isObject(file) && isObject(service)) {
    const keys = new Set([...Object.keys(file), ...Object.keys(service)]);
    return [...keys].flatMap((key) => differencesOf(`${path}.${key}`, file[key], service[key]));
  }
  if (isDeepStrictEqual(file, service)) return [];
  const describeValue = (value: unknown): string => (value === undefined ? "nothing" : showValue(value));
  if (isHidden(path.split("."))) return [`${path}: differs from the service`];
  return [`${path}: ${describeValue(file)} in the file, ${describeValue(service)} in the service`];
}
