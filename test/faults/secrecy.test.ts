import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import type { Properties } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { openDatabase } from "../../service/store/database";
import { json, startFaultyServer } from "../support/faulty-server";
import { type BenchContext, useLifecycleBench } from "../support/lifecycle-bench";
import { longSecrets } from "../support/long-secrets";
import { unusedOrigin } from "../support/loopback";
import { naming } from "../support/naming";
import type { Fault } from "../support/recording-proxy";
import { formsOf } from "../support/secret-scan";
import { contextAt } from "./support/wrong-addresses";

const bench = await useLifecycleBench({ logLevel: "debug", templateRelease: 0 });

const long = longSecrets();

/** Values that must not be found, even partially, and a value that must be found, as a check of the search. */
const secrets = {
  value: `sesame-4d1f-"quoted"\n${long.pem}`,
  password: `open-up-77aa\nline ${long.jwt}`,
  later: `sesame-later-9b2e ${long.text}`,
};
// REST v2 limits user names to 191 characters.
const plantedText = `planted-c0ffee ${longSecrets().text}`.slice(0, 191);

/** All output visible to a user, by place. */
const textByPlace = new Map<string, string>();
function recordText(place: string, value: unknown): void {
  const text =
    typeof value === "string" ? value : inspect(value, { depth: 12, showHidden: true, maxStringLength: null });
  textByPlace.set(place, `${textByPlace.get(place) ?? ""}\n${text}`);
}

const findPlaces = (value: string): string[] =>
  [...textByPlace].flatMap(([place, text]) => (formsOf(value).some((form) => text.includes(form)) ? [place] : []));

/** Services that reject every request and echo it, completely or only its beginning. */
const echoes = await Promise.all(
  [1, 0.4].map((share) =>
    startFaultyServer(
      ({ method, body }) =>
        method === "GET" || /^{"query":"query/.test(body)
          ? json(
              /podTemplate/.test(body)
                ? { data: { podTemplate: null, myself: { podTemplates: [] } } }
                : { data: { myself: {} }, templates: [], secrets: [], registries: [] },
            )
          : json(
              { message: body.slice(0, body.length * share), errors: [{ message: `bad: ${JSON.stringify(body)}` }] },
              400,
            ),
      afterAll,
    ),
  ),
);

const faults: Fault[] = [
  { kind: "dropResponse" },
  { kind: "halfBody" },
  { kind: "status", status: 500 },
  { kind: "status", status: 429, retryAfter: "1" },
];

/** Runs a verb, records its progress and errors, and returns its result. */
async function run<Result>(label: string, context: BenchContext, verb: Promise<Result>): Promise<Result | undefined> {
  try {
    return await verb;
  } catch (error) {
    recordText(`error of ${label}`, error);
    return undefined;
  } finally {
    recordText(`progress of ${label}`, context.progressMessages);
  }
}

/** Outputs that state stores as plain text, without outputs marked secret. */
function plainState(kind: "Secret" | "ContainerRegistryAuth" | "Template", outputs: Properties): Properties {
  const { options } = kinds[kind];
  return Object.fromEntries(Object.entries(outputs).filter(([key]) => !options[key]?.secret));
}

async function noteStore(): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "secrecy-"));
  try {
    for (const file of await readdir(bench.dataFolder)) {
      if (file.startsWith("service.db")) await cp(join(bench.dataFolder, file), join(copy, file));
      if (file.endsWith(".log"))
        recordText("logs of the service", await readFile(join(bench.dataFolder, file), "utf8"));
    }
    const database = openDatabase(copy);
    const tables = database
      .query("SELECT name FROM sqlite_master WHERE type = 'table'", z.object({ name: z.string() }))
      .all();
    for (const { name } of tables) {
      const place = ["secrets", "registry_auths"].includes(name) ? "the secret store" : `table ${name}`;
      recordText(
        place,
        JSON.stringify(database.query(`SELECT * FROM "${name}"`, z.record(z.string(), z.unknown())).all()),
      );
    }
    database.close();
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

test("no secret is in progress, errors, plain state, the service's logs, or its tables other than the secret store", async () => {
  const rows = [
    { kind: "Secret", news: { value: secrets.value, description: plantedText }, later: { value: secrets.later } },
    {
      kind: "ContainerRegistryAuth",
      news: { username: plantedText, password: secrets.password },
      later: { password: secrets.later },
    },
    { kind: "Template", news: { imageName: "a:1", readme: plantedText }, later: { env: { A: secrets.later } } },
  ] as const;
  const dead = await unusedOrigin();
  for (const { kind, news, later } of rows) {
    const lifecycle = kinds[kind];
    for (const [index, fault] of faults.entries()) {
      const { inputs, failures } = lifecycle.check({}, news, naming(`${kind}-${index}-dev`));
      recordText("checks", failures);
      recordText(
        "checks",
        lifecycle.check({}, { ...news, nme: "x", value: 7, password: 7, ...later }, naming("x y")).failures,
      );
      bench.proxy.inject({ method: "POST" }, { kind: "delayRequest", ms: 0 });
      bench.proxy.inject({ method: "POST" }, fault);
      const context = bench.context();
      const created = await run(`${kind} create`, context, lifecycle.create(inputs, context));
      if (!created) throw new Error(inspect(textByPlace.get(`error of ${kind} create`)));
      recordText("plain state", plainState(kind, created.outputs));
      if (index === 0) await noteStore();
      // A duplicate name, a wrong key, an unreachable service, and a service that echoes its input.
      const again = bench.context();
      await run(`${kind} second create`, again, lifecycle.create(inputs, again));
      const wrongKey = contextAt(bench, bench.proxy.origin, { apiKey: "wrong-key" });
      for (const lost of [wrongKey, ...[dead, ...echoes.map(({ origin }) => origin)].map((at) => contextAt(bench, at))])
        await run(`${kind} astray`, context, lifecycle.create(inputs, { ...lost, signal: context.signal }));
      const news2 = lifecycle.check(created.outputs, { ...news, ...later }, naming(`${kind}-${index}-dev`)).inputs;
      recordText("changes", lifecycle.diff(created.outputs, news2));
      const changing = bench.context();
      const outputs = await run(
        `${kind} update`,
        changing,
        lifecycle.update(created.id, created.outputs, news2, changing),
      );
      if (kind !== "Template") recordText("plain state", plainState(kind, outputs ?? {}));
      const readResult = await lifecycle.read(created.id, outputs ?? {}, bench.context());
      if (kind !== "Template") recordText("plain state", plainState(kind, readResult?.outputs ?? {}));
      await run(`${kind} bad update`, changing, lifecycle.update("nosuch", created.outputs, news2, bench.context()));
      if (index === 0) await noteStore();
      await run(`${kind} delete`, changing, lifecycle.delete(created.id, outputs ?? {}, bench.context()));
    }
  }
  recordText("records of the proxy", bench.proxy.requests);

  expect(findPlaces(plantedText)).toEqual(expect.arrayContaining(["plain state", "the secret store"]));
  expect(findPlaces(secrets.value)).toEqual(["the secret store"]);
  expect(findPlaces(secrets.password)).toEqual(["the secret store"]);
  // The service stores environment variables as plain text only in its templates.
  expect(findPlaces(secrets.later).filter((place) => place !== "table templates")).toEqual(["the secret store"]);
  expect(findPlaces(bench.addresses.apiKey)).toEqual([]);
  expect(textByPlace.get("error of Secret astray")).toMatch(/the service rejected the request: .*\[secret\]/);
});
