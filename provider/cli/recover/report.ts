import type { NamedObject } from "../../framework/definition";
import { countOf } from "../terminal";
import type { Unresolved } from "./unresolved";

type Create = Unresolved["creates"][number];

/** An object in one line. */
const objectLine = ({ id, name, createdAt }: NamedObject): string =>
  [id, `"${name}"`, ...(createdAt === undefined ? [] : [`created ${createdAt}`])].join("  ");

/** The lines about one pending create. */
function createLines(create: Create): string[] {
  const subject = `${create.kind} "${create.resource}"`;
  const nameText = `named "${create.name}"`;
  switch (create.outcome) {
    case "found":
      return [`${subject}: created as ${create.object.id}, ${nameText}. It can be imported into the state.`];
    case "candidates":
      return [
        `${subject}: the account has ${countOf(create.objects.length, "object")} ${nameText}, perhaps from another program. ` +
          "Pass --import <id> for the object that this stack created, and --ignore <id> for each of the others.",
        ...create.objects.map((object) => `  ${objectLine(object)}`),
      ];
    case "absent":
      return [`${subject}: not created; no object is ${nameText}. The pending create can be cleared.`];
    case "superseded":
      return [`${subject}: a later deployment created it again. The pending create can be cleared.`];
    case "run":
      return [
        `${subject}: a job cannot be imported. Clear the pending create; the next \`pulumi up\` submits another job.`,
      ];
    case "unclear":
      return [
        `${subject}: unclear whether it was created. ${create.reason} ` +
          `Look for ${create.name === undefined ? "its object" : `an object ${nameText}`} in the account.`,
      ];
  }
}

/** Pending creates that require a decision by the user. */
export const undecidedCreates = ({ creates }: Unresolved): Create[] =>
  creates.filter(({ outcome }) => outcome === "candidates" || outcome === "unclear");

/** The report as text. `command` is the command line that resolves the pending creates; undefined if it is the running one. */
export function reportText(unresolved: Unresolved, command: string | undefined): string {
  const { creates, foreign, others, orphans } = unresolved;
  const found = creates.filter(({ outcome }) => outcome === "found").length;
  const cleared = creates.length - found;
  const sections: string[][] = [];
  if (creates.length > 0)
    sections.push([
      `${countOf(creates.length, "pending create")}:`,
      "",
      ...creates.flatMap((create) => [...createLines(create), `  ${create.urn}`]),
    ]);
  if (foreign.length > 0)
    sections.push(["Pending creates of other packages; resolve them first:", ...foreign.map(({ urn }) => `  ${urn}`)]);
  if (others.length > 0)
    sections.push([
      "Other pending operations; `pulumi refresh` completes them:",
      ...others.map(({ urn, type }) => `  ${type} ${urn}`),
    ]);
  if (orphans.length > 0)
    sections.push([
      "Objects with default names of this stack's resources that its state does not contain. Delete them unless another",
      "stack of the same name uses this account:",
      ...orphans.map((orphan) => `  ${orphan.kind}  ${objectLine(orphan)}  at ${orphan.baseUrl}`),
    ]);
  if (sections.length === 0) return "Nothing to recover: no pending operations, no unfinished objects.";
  if (
    command !== undefined &&
    creates.length > 0 &&
    undecidedCreates(unresolved).length === 0 &&
    foreign.length === 0
  ) {
    const steps = [
      ...(found > 0 ? [`import ${countOf(found, "object")}`] : []),
      ...(cleared > 0 ? [`clear ${countOf(cleared, "pending create")}`] : []),
    ];
    const clearCommand = "  pulumi refresh --clear-pending-creates --yes";
    sections.push([`To ${steps.join(" and ")}, run:`, `  ${command}`, ...(found === 0 ? ["or:", clearCommand] : [])]);
  }
  return sections.map((lines) => lines.join("\n")).join("\n\n");
}
