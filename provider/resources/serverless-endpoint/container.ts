import type { Dialect, EndpointRecord } from "serverless-compute-api";
import {
  type ContainerSettings,
  containerOf,
  type OwnContainer,
  ownContainerIn,
  withOwnSettings,
} from "serverless-compute-api/shapes";
import { isEmpty, isProperties, type Properties, stringAt, toProperties, Unknown } from "../../engine/values";
import type { Context } from "../../framework/contract";
import { isDetermined } from "../../framework/properties/defaults";
import { diffProperty } from "../../framework/properties/diff";
import { findTemplateBySettings, template } from "../template/definition";
import { containerDefaults, normalizePorts, revisionOf } from "../template/revision";
import { startKeys, toStartLists, toStartText } from "../template/start-arguments";
import { containerKeys, type Inputs, serverlessEndpointInputs } from "./inputs";

/** An endpoint with the settings of the template with which its container is compared. */
export type CompleteRecord = EndpointRecord & { template?: ContainerSettings | undefined };

const plainKeys = ["imageName", "containerDiskInGb", "ports", "containerRegistryAuthId"] as const;

/** Converts inputs to container settings: all of them without a template, otherwise those that override the template's. */
export function containerSettings(inputs: Partial<Inputs>): OwnContainer {
  const { imageName, containerDiskInGb, env, ports, containerRegistryAuthId, dockerArgs = "", templateId } = inputs;
  const { dockerEntrypoint, dockerStartCmd } = inputs;
  const hasStart = startKeys.some((key) => inputs[key] !== undefined);
  const own = ownContainerIn({
    imageName,
    containerDiskInGb,
    env,
    ports,
    dockerArgs: hasStart ? toStartText({ dockerArgs, dockerEntrypoint, dockerStartCmd }) : undefined,
    containerRegistryAuthId: containerRegistryAuthId === "" ? null : containerRegistryAuthId,
  });
  return templateId === undefined ? { ...containerDefaults, containerRegistryAuthId: null, ...own } : own;
}

const isSet = (desired: Properties, key: string): boolean => (desired[key] ?? null) !== null;

/** All settings of a container as inputs; empty ones only if the program sets them. */
function fullInputs(container: ContainerSettings, desired: Properties): Properties {
  const { dockerArgs, ...settings } = container;
  const start = toStartLists(dockerArgs, isSet(desired, "dockerArgs"));
  const values = toProperties({
    ...settings,
    containerRegistryAuthId: settings.containerRegistryAuthId ?? "",
    ...start,
  });
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => isSet(desired, key) || !isEmpty(value)));
}

/**
 * The settings of a container that the program sets, and those that differ from the template's. A variable of the template that the
 * container lacks is empty.
 */
function deviations(container: ContainerSettings, base: ContainerSettings, desired: Properties): Properties {
  const desiredEnv = isProperties(desired["env"]) ? desired["env"] : {};
  const env = Object.fromEntries([
    ...Object.keys(base.env).flatMap((name) =>
      name in container.env || (desiredEnv[name] ?? "") !== "" ? [] : [[name, ""]],
    ),
    ...Object.entries(container.env).filter(([name, value]) => name in desiredEnv || base.env[name] !== value),
  ]);
  const isSame = {
    imageName: container.imageName === base.imageName,
    containerDiskInGb: container.containerDiskInGb === base.containerDiskInGb,
    ports: normalizePorts(container.ports) === normalizePorts(base.ports),
    containerRegistryAuthId: container.containerRegistryAuthId === base.containerRegistryAuthId,
  };
  const plain = plainKeys.flatMap((key) =>
    isSame[key] && !isSet(desired, key) ? [] : [[key, container[key] ?? ""] as const],
  );
  const setsStart = startKeys.some((key) => isSet(desired, key));
  const hasSameStart = toStartText(container) === toStartText(base);
  const start = toStartLists(container.dockerArgs, isSet(desired, "dockerArgs"));
  const isEmptyStart = startKeys.every((key) => start[key].length === 0);
  const startEntries = startKeys.flatMap((key) =>
    isSet(desired, key) || start[key].length > 0 || (key === "dockerArgs" && isEmptyStart && !setsStart)
      ? [[key, start[key]] as const]
      : [],
  );
  return toProperties({
    ...Object.fromEntries(plain),
    ...(setsStart || !hasSameStart ? Object.fromEntries(startEntries) : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
  });
}

/** Inputs of a record; undefined for settings that the endpoint does not have, absent for settings that are unknown. */
type ReportedContainer = { [key: string]: unknown };

const none: ReportedContainer = Object.fromEntries(containerKeys.map((key) => [key, undefined]));

/** The inputs of the endpoint's container: the template and the settings that differ from it, or all settings. */
export function reportedContainer(record: CompleteRecord, desired: Properties): ReportedContainer {
  const { container, own, template: base, templateId } = record;
  const desiredId = stringAt(desired, "templateId");
  // Any container may be that of a template that does not exist yet.
  if (desired["templateId"] instanceof Unknown) return { templateId };
  if (!container)
    return (desiredId === undefined && isSet(desired, "imageName")) || record.unknownKeys?.includes("templateId")
      ? {}
      : { templateId };
  if (Object.keys(desired).length === 0)
    return base
      ? { ...none, templateId, ...deviations(container, base, toProperties(own ?? {})) }
      : { ...none, ...fullInputs(container, desired), templateId: undefined };
  if (desiredId === undefined) return { ...none, ...fullInputs(container, desired), templateId };
  // The settings of a deleted template are unknown.
  if (!base) return { templateId: templateId ?? desiredId };
  return { ...none, ...deviations(container, base, desired), templateId: templateId ?? desiredId };
}

/**
 * Adds the template of the endpoint's container. An imported endpoint belongs to the template that its mark names, or to another one,
 * if the settings are equal; otherwise it has its own container.
 */
export async function withTemplate(
  record: EndpointRecord,
  desired: Properties,
  context: Context,
): Promise<CompleteRecord> {
  const desiredId = stringAt(desired, "templateId");
  const { container, templateId = desiredId, own } = record;
  if (!container) return record;
  const found = templateId === undefined ? undefined : await template.reader(context).get(templateId, context);
  if (Object.keys(desired).length > 0) return { ...record, template: found && containerOf(found) };
  if (found && revisionOf(withOwnSettings(containerOf(found), own)) === revisionOf(container))
    return { ...record, template: containerOf(found) };
  const equal = await findTemplateBySettings(container, context);
  return { ...record, templateId: equal?.id, own: undefined, template: equal && containerOf(equal) };
}

/** The container of a record that a rollback restores: its template and the differing settings, or all settings. */
export function servedContainer(record: CompleteRecord, state: Properties): Properties {
  const { container, template: base } = record;
  // A deleted template cannot be restored, and an endpoint cannot lack a variable of its template.
  const isOwn = !base || Object.keys(base.env).some((name) => !(name in (container?.env ?? {})));
  if (container && isOwn) return fullInputs(container, {});
  return toProperties({
    templateId: container ? undefined : (record.templateId ?? stringAt(state, "templateId")),
    ...reportedContainer(record, state),
  });
}

/** Keys of inputs whose values a container does not have. A setting that the inputs leave to the service agrees with any value. */
export const differingKeys = (container: Properties, inputs: Properties, dialect?: Dialect): string[] =>
  containerKeys.filter((key) => {
    const isOfService = !isSet(inputs, key) && !isDetermined(serverlessEndpointInputs, key, inputs);
    return !isOfService && diffProperty(serverlessEndpointInputs, key, inputs[key], container[key], dialect).length > 0;
  });

/** Returns true if an endpoint runs the container of some inputs. */
export async function runsContainer(
  endpoint: EndpointRecord | undefined,
  inputs: Properties,
  context: Context,
): Promise<boolean> {
  if (!endpoint || !setsContainer(inputs)) return false;
  const record = await withTemplate(endpoint, inputs, context);
  return differingKeys(servedContainer(record, inputs), inputs, context.clients.dialect).length === 0;
}

/** Returns true if inputs have a container. */
export const setsContainer = (inputs: Properties): boolean =>
  typeof inputs["templateId"] === "string" || typeof inputs["imageName"] === "string";
