import { appendFileSync } from "node:fs";
import { join } from "node:path";

/** A place that may leak, and its content. */
export type Artefact = readonly [place: string, text: string];

/** Minimum length of a secret, because shorter values occur in other texts by chance. */
const minimumLength = 6;

/** Folder in which the run collects its secrets, for the scan of its output; one file per process. */
export const secretsFolderVariable = "TEST_RUN_SECRETS";

/** Secrets of this test file, with their descriptions. No artefact of the run may contain them. */
const secrets = new Map<string, string>();

/** Registers a secret of a test. */
export function registerSecret(value: string, description: string): void {
  if (value.length < minimumLength || secrets.has(value)) return;
  secrets.set(value, description);
  const folder = process.env[secretsFolderVariable];
  if (folder)
    appendFileSync(join(folder, String(process.pid)), `${JSON.stringify([value, description])}\n`, { mode: 0o600 });
}

/** Forgets the secrets of the previous test file. */
export const forgetSecrets = (): void => secrets.clear();

/** Excludes a secret that a test reveals on purpose, for example through its handler's output. */
export function allowSecret(value: string): void {
  secrets.set(value, "");
}

/** Parts of this length of a long value are separate forms, because a truncated secret contains one of them. */
const partLength = 24;

function partsOf(form: string): string[] {
  const count = form.length < 2 * partLength ? 0 : Math.floor(form.length / partLength);
  return Array.from({ length: count }, (_, index) => form.slice(index * partLength, (index + 1) * partLength));
}

/** Forms of a secret: plain, in JSON, in JSON within JSON, in an address, in base64; and parts of those. */
export function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const encoded = Buffer.from(value).toString("base64").slice(0, -4);
  const forms = [value, inJson, JSON.stringify(inJson).slice(1, -1), encodeURIComponent(value), encoded];
  const allForms = forms.flatMap((form) => [form, ...partsOf(form), form.slice(-partLength)]);
  return [...new Set(allForms)].filter((form) => form.length >= minimumLength);
}

/** Places that contain secrets, as message lines without the secrets themselves. */
export function leaksIn(artefacts: Iterable<Artefact>, knownSecrets: ReadonlyMap<string, string> = secrets): string[] {
  const searchedSecrets = [...knownSecrets]
    .filter(([, description]) => description !== "")
    .map(([value, description]) => ({ description, forms: formsOf(value) }));
  const leaks = new Set<string>();
  for (const [place, text] of artefacts) {
    for (const { description, forms } of searchedSecrets) {
      if (forms.some((form) => text.includes(form))) leaks.add(`${description} is in ${place}`);
    }
  }
  return [...leaks];
}

/** Fails if an artefact contains a secret of this test file. */
export function expectNoSecretIn(artefacts: Iterable<Artefact>): void {
  const leaks = leaksIn(artefacts);
  if (leaks.length > 0) throw new Error(`a test left secrets behind:\n${leaks.join("\n")}`);
}

const secretMutation = /\b(secretCreate|secretValueUpdate|saveRegistryAuth|updateRegistryAuth)\b/;
const secretArgument = /\b(?:value|password)\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** Remembers the secrets in the body of a GraphQL request: values of secrets, passwords of registry credentials. */
export function registerSentSecrets(body: string): void {
  if (!secretMutation.test(body)) return;
  const registerValue = (key: string, value: unknown): unknown => {
    if ((key === "value" || key === "password") && typeof value === "string") registerSecret(value, "a secret value");
    if (key === "query" && typeof value === "string") {
      for (const [, quoted = '""'] of value.matchAll(secretArgument)) registerValue("value", JSON.parse(quoted));
    }
    return value;
  };
  try {
    JSON.parse(body, registerValue);
  } catch {
    // Some tests send a malformed body, which the service rejects.
  }
}
