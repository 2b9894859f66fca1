import { createHash } from "node:crypto";
import { limits } from "serverless-compute-api/shapes";
import { type Change, type Properties, Unknown, type Value } from "../../lifecycle/contract";
import { hasUnknown, textOf } from "../../lifecycle/properties/values";
import { type Inputs, resolvedInputs } from "./inputs";
import { revisionOf, type TemplateContent, templateContent } from "./revision";

/**
 * Templates of which each change of what workers run makes a new one (`replaceOnChange`): the old one stays until no endpoint
 * uses it, so an endpoint can go back to it. Names are unique, so each has the revision in its name.
 */

/** The inputs that decide the revision. */
export const contentShape = resolvedInputs.pick({
  imageName: true,
  dockerArgs: true,
  dockerEntrypoint: true,
  dockerStartCmd: true,
  env: true,
  ports: true,
  containerDiskInGb: true,
  containerRegistryAuthId: true,
});

/** Hexadecimal digits that a name ends in. */
const suffixLength = 8;

/**
 * What the name of a template ends in: its revision. A name that the user gave may be given elsewhere too, so there the
 * revision is mixed with the resource's default name, which holds the fingerprint of its URN.
 */
function suffixOf(content: TemplateContent, base: string, defaultName: string | undefined): string {
  const revision = revisionOf(content);
  if (base === defaultName) return revision.slice(0, suffixLength);
  const mixed = createHash("sha256").update(`${revision}\n${defaultName ?? ""}`);
  return mixed.digest("hex").slice(0, suffixLength);
}

const nameFor = (content: TemplateContent, base: string, defaultName: string | undefined): string => {
  // The end of a default name is its fingerprint. Half of a character that takes two units would be no text any more.
  const kept = base.slice(-(limits.nameLength - suffixLength - 1)).replace(/^[\uDC00-\uDFFF]/, "");
  return `${kept}-${suffixOf(content, base, defaultName)}`;
};

/**
 * The name of a template that is replaced on change: a new one for new content, the same for the same, which also one has
 * whose replacement was just asked for. Undefined where the inputs' own name stays.
 */
export function replacementName(
  inputs: Properties,
  olds: Properties,
  given: Value | undefined,
  defaultName: string | undefined,
): Value | undefined {
  const base = given ?? defaultName;
  if (inputs["replaceOnChange"] !== true || base === undefined) return undefined;
  if (base instanceof Unknown || templateContent.some((key) => hasUnknown(inputs[key]))) return Unknown.value;
  const { data: content } = contentShape.safeParse(inputs);
  if (!content || typeof base !== "string") return undefined;
  const { data: was } = contentShape.safeParse(olds);
  const had = textOf(olds, "name");
  const isSame = was !== undefined && revisionOf(was) === revisionOf(content);
  const isNamedSo = (given ?? null) === null || had === base || had?.startsWith(`${base}-`);
  return isSame && had !== undefined && isNamedSo ? had : nameFor(content, base, defaultName);
}

/** Whether nobody but the resource with this default name gives a template its name. */
export function isOwnName({ name, replaceOnChange, ...content }: Inputs, defaultName: string | undefined): boolean {
  if (defaultName === undefined) return false;
  if (name === defaultName) return true;
  if (!replaceOnChange) return false;
  return name === nameFor(content, defaultName, defaultName) || name.endsWith(`-${suffixOf(content, "", defaultName)}`);
}

const isContent = ({ path }: Change): boolean => templateContent.some((key) => key === path[0]);
const isName = ({ path }: Change): boolean => path[0] === "name";

/** The changes of a template that is replaced on change. Drift leaves the name as it is, and is put right in place. */
export function replacing(changes: Change[], { replaceOnChange }: Properties): Change[] {
  if (replaceOnChange !== true || !changes.some(isName) || !changes.some(isContent)) return changes;
  return changes.map((change) => (isContent(change) || isName(change) ? { ...change, replace: true } : change));
}
