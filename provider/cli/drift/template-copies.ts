import { isRecord, pathText, toProperties } from "../../engine/values";
import { diffProperty } from "../../framework/properties/diff";
import { parseUrn } from "../../framework/urn";
import { kinds } from "../../resources";
import type { PropertyChange, ResourceChange } from "../pulumi-preview/changes";
import type { Preview, Step } from "../pulumi-preview/preview";

/**
 * Reports an endpoint that keeps its copy of a changed template by one warning. REST v2 shows each kept setting as a setting of the
 * endpoint, although the endpoint did not change.
 */
export function withKeptCopies(drifted: ResourceChange[], { steps }: Preview): ResourceChange[] {
  return drifted.map((change) => {
    const endpoint = steps.find(({ urn }) => urn === change.urn);
    const template = templateOf(endpoint, steps);
    if (!template || !drifted.some(({ urn }) => urn === template.urn)) return change;
    const kept = change.properties.filter((property) => isKept(property, template));
    if (kept.length === 0) return change;
    const names = kept.map(({ property }) => property).join(", ");
    const { name } = parseUrn(template.urn);
    return {
      ...change,
      properties: change.properties.filter((property) => !kept.includes(property)),
      warnings: [
        ...change.warnings,
        `${names} did not change: the endpoint keeps the previous settings of template "${name}"`,
      ],
    };
  });
}

/** The template of an endpoint, by its id in the state. */
export function templateOf(endpoint: Step | undefined, steps: readonly Step[]): Step | undefined {
  const id = endpoint?.oldState?.inputs?.["templateId"];
  return id === undefined ? undefined : steps.find(({ oldState }) => oldState?.id === id);
}

/** True if the state lacks a setting of an endpoint, and the service has the value that the template has in the state. */
function isKept({ property, old, new: value }: PropertyChange, { oldState }: Step): boolean {
  if (old !== undefined) return false;
  const inputs = toProperties(oldState?.inputs ?? {});
  const variables = isRecord(inputs["env"]) ? inputs["env"] : {};
  // A variable that the template received later is empty.
  const isKeptVariable = (name: string, text: unknown): boolean => text === (variables[name] ?? "");
  if (property === "env" && isRecord(value))
    return Object.entries(value).every(([name, text]) => isKeptVariable(name, text));
  const variable = Object.keys(variables).find((name) => pathText(["env", name]) === property);
  if (variable !== undefined) return isKeptVariable(variable, value);
  const present = toProperties({ value })["value"];
  return (
    property in kinds.Template.inputs.shape &&
    diffProperty(kinds.Template.inputs, property, inputs[property], present).length === 0
  );
}
