import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { AppliedSeed } from "../api/local";
import type { Controller } from "../api/management/controllers";
import { nameInRestV2 } from "../api/property-names";
import { issuesText, type NameOf, ServiceError } from "../errors";
import type { Resources } from "../resources";
import { changeText, type Difference, differencesOf, differenceText, settingsOf } from "./differences";
import { type Seed, withFile } from "./seed-file";

/** The outcome of seeding. */
interface Seeded extends Omit<AppliedSeed, "file" | "atStart"> {
  /** Ids of the file's endpoints by name. */
  endpointIds: Record<string, string>;
}

type Fields = Record<string, unknown>;
type Row = { id: string; name: string };

/** Operations of REST v2 for a kind of object. */
type Operations = Required<Pick<Controller, "get" | "create" | "update">>;

/** An object of the file. */
interface Entry {
  /** Its path in the file. */
  path: string;
  name: string;
  controller: Operations;
  /** The object in the file. */
  definition: object;
  /** Id of the existing object; undefined if there is none. */
  id: string | undefined;
  /** Returns the body of the create request, without the name. */
  body(): Fields;
}

const invalid = (text: string): ServiceError => new ServiceError("invalid", text);

const sections = ["secrets", "volumes", "templates", "endpoints"] as const;

/** Ids by name of the objects of each kind: the service's, and those that seeding creates. */
type Ids = Record<(typeof sections)[number], Map<string, string[]>>;

function idsByName(rows: Row[]): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { name, id } of rows) {
    const sameName = ids.get(name);
    if (sameName) sameName.push(id);
    else ids.set(name, [id]);
  }
  return ids;
}

const copyOf = ({ secrets, volumes, templates, endpoints }: Ids): Ids => ({
  secrets: new Map(secrets),
  volumes: new Map(volumes),
  templates: new Map(templates),
  endpoints: new Map(endpoints),
});

/** The id of the object with a name; undefined if it does not exist. */
function findId(ids: Map<string, string[]>, path: string, name: string): string | undefined {
  const [id, ...others] = ids.get(name) ?? [];
  if (others.length === 0) return id;
  const count = others.length + 1;
  throw invalid(`${path}: the service has ${count} objects with this name; delete or rename all but one`);
}

/** Number of objects after which the progress is reported. */
const progressStep = 1000;

/** Properties that only the creation of an object sets. */
const createOnly = new Set(["type", "dataCenter"]);

/**
 * Creates missing objects of a seed file with the create operations of REST v2, and compares existing objects, which it updates if
 * `updates` is true. Kind and name identify an object. An invalid file throws a StartError and changes nothing.
 */
export function applySeed(
  seed: Seed,
  resources: Resources,
  controllers: Record<"/account/secrets" | "/network-volumes" | "/templates" | "/serverless", Operations>,
  /** Returns the value of an environment variable. */
  environmentValue: (name: string) => string | undefined,
  /** Receives the progress with a large file. */
  onProgress: (text: string) => void = () => undefined,
  updates = false,
): Seeded {
  const { secrets, volumes, templates, endpoints, transaction } = resources;

  const referencedId = (ids: Map<string, string[]>, path: string, noun: string, name: string): string => {
    const id = findId(ids, path, name);
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
    if (valueFromEnv === undefined) throw invalid(`${path}.valueFromEnv: is required; specify an environment variable`);
    const value = environmentValue(valueFromEnv);
    if (value === undefined)
      throw invalid(`${path}.valueFromEnv: the environment variable "${valueFromEnv}" is not set; set it`);
    return { ...rest, value };
  };
  const endpointBody = (
    ids: Ids,
    { template, networkVolumes, faults, ...rest }: Seed["endpoints"][string],
    path: string,
  ): Fields => ({
    ...rest,
    ...(template !== undefined && {
      templateId: referencedId(ids.templates, `${path}.template`, "template", template),
    }),
    ...(networkVolumes && {
      networkVolumes: networkVolumes.map((name) =>
        referencedId(ids.volumes, `${path}.networkVolumes`, "network volume", name),
      ),
    }),
  });

  /** Visits the file's objects, each after the objects that it references, and records the ids that the visitor returns. */
  function visit(verb: string, ids: Ids, visitor: (entry: Entry) => string | undefined): void {
    let count = 0;
    const total = sections.flatMap((section) => Object.keys(seed[section])).length;
    const visitSection = <Definition extends object>(
      section: keyof Ids,
      entries: Record<string, Definition>,
      controller: Entry["controller"],
      body: (definition: Definition, path: string) => Fields,
    ): void => {
      for (const [name, definition] of Object.entries(entries)) {
        const path = `${section}.${name}`;
        if ("name" in definition) throw invalid(`${path}.name: unknown property; the key of an object is its name`);
        const id = findId(ids[section], path, name);
        const createdId = visitor({ path, name, controller, definition, id, body: () => body(definition, path) });
        if (createdId !== undefined) ids[section].set(name, [createdId]);
        if (++count % progressStep === 0) onProgress(`${verb} ${count} of ${total} objects`);
      }
    };
    visitSection("secrets", seed.secrets, controllers["/account/secrets"], secretBody);
    visitSection("volumes", seed.volumes, controllers["/network-volumes"], (fields) => fields);
    visitSection("templates", seed.templates, controllers["/templates"], (fields) => fields);
    visitSection("endpoints", seed.endpoints, controllers["/serverless"], (fields, path) =>
      endpointBody(ids, fields, path),
    );
  }

  /**
   * Creates missing objects, and a twin of each existing object to compare their records, unless it was just created; then rolls back.
   * With `updates`, an object that differs is also updated, because later objects may copy it. Returns the messages by path.
   */
  function findDifferences(ids: Ids, created: ReadonlySet<string>, withUpdates: boolean): Map<string, Difference[]> {
    const differences = new Map<string, Difference[]>();
    runAndRollBack(transaction, () =>
      visit("checked", ids, (entry) => {
        const { path, id, controller } = entry;
        if (id === undefined) return create(entry, entry.name).id;
        if (created.has(path)) return undefined;
        const { value } = entry.body();
        const hasOtherValue = typeof value === "string" && value !== secrets.valueOf(entry.name);
        const twin = create(entry, `seed-${randomUUID()}`);
        const found = [
          ...(hasOtherValue ? [{ property: `${path}.value` }] : []),
          ...differencesOf(path, settingsOf(twin), settingsOf(controller.get(id))),
        ];
        if (found.length === 0) return undefined;
        differences.set(path, found);
        if (withUpdates) update(entry, id);
        return undefined;
      }),
    );
    return differences;
  }

  return withFile(seed.file, () => {
    const ids: Ids = {
      secrets: idsByName(secrets.list()),
      volumes: idsByName(volumes.list()),
      templates: idsByName(templates.list()),
      endpoints: idsByName(endpoints.list()),
    };
    const exists = sections.flatMap((section) => Object.keys(seed[section]).map((name) => ids[section].has(name)));
    const created = new Set<string>();
    // First, because the file may be invalid for an existing object. The creation validates all others.
    const compare = (withUpdates: boolean): Map<string, Difference[]> =>
      exists.includes(true) ? findDifferences(copyOf(ids), created, withUpdates) : new Map();
    let differences = compare(updates);
    const differing = updates ? differences : new Map<string, Difference[]>();
    if (exists.includes(false) || differing.size > 0) {
      transaction(() =>
        visit("created", ids, (entry) => {
          if (entry.id === undefined) {
            created.add(entry.path);
            return create(entry, entry.name).id;
          }
          if (differing.has(entry.path)) update(entry, entry.id);
          return undefined;
        }),
      );
      // Existing objects can refer to new ones, whose ids are final now.
      differences = compare(false);
    }
    const endpointIds = Object.keys(seed.endpoints).map((name) => [name, findId(ids.endpoints, "endpoints", name)]);
    const remains = (path: string, { property }: Difference): boolean =>
      differences.get(path)?.some((difference) => difference.property === property) ?? false;
    return {
      created: [...created],
      updated: [...differing].flatMap(([path, found]) => {
        const changed = found.filter((difference) => !remains(path, difference));
        return changed.length > 0 ? [{ path, changes: changed.map(changeText) }] : [];
      }),
      differences: [...differences.values()].flat().map(differenceText),
      others: sections.flatMap((section) =>
        [...ids[section].keys()].flatMap((name) => (Object.hasOwn(seed[section], name) ? [] : [`${section}.${name}`])),
      ),
      endpointIds: Object.fromEntries(endpointIds),
    };
  });
}

const createdShape = z.looseObject({ id: z.string() });

/** Properties of requests of REST v2 that the file replaces. The key of an object is its name. */
const namesInFile: ReadonlyMap<string, string> = new Map([
  ["name", ""],
  ["templateId", "template"],
  ["value", "valueFromEnv"],
]);

/** Creates an object and returns its record. */
function create(entry: Entry, name: string): z.output<typeof createdShape> {
  const fields = entry.body();
  return send(entry, () => createdShape.parse(entry.controller.create({ ...fields, name })));
}

/** Updates an object with all properties that an update can set. */
function update(entry: Entry, id: string): void {
  const fields = Object.entries(entry.body()).filter(([name]) => !createOnly.has(name));
  send(entry, () => entry.controller.update(id, Object.fromEntries(fields)));
}

/** Sends the definition of an object; errors name its path and its properties in the file. */
function send<Result>({ path, definition }: Entry, request: () => Result): Result {
  try {
    return request();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const nameInFile: NameOf = (property, of) => {
      const nameInV2 = nameInRestV2(property, of);
      return nameInV2 in definition ? nameInV2 : (namesInFile.get(nameInV2) ?? nameInV2);
    };
    throw invalid(issuesText(error.issues, nameInFile, path));
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
