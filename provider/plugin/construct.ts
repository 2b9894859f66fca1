import type { constructRequest, constructResponse, Request, Response } from "../engine/messages";
import { connectMonitor, type Registered } from "../engine/monitor";
import { isProperties, type Path, type PropertyMap, Unknown, type Value, valueAt } from "../engine/values";
import type { ProviderProcess } from "../framework/process";
import { checkInputs } from "../framework/properties/check";
import { isSecretAt } from "../framework/properties/secret-paths";
import { verifiedEndpointInputs } from "../resources/verified-endpoint/inputs";
import { pathsOf, pathWarnings } from "../resources/verified-endpoint/option-paths";

type ConstructRequest = Request<typeof constructRequest>;
type ConstructResponse = Response<typeof constructResponse>;

/** A property of a resource. */
interface Property {
  key: string;
  value: Value;
  /** Paths that begin with the key. */
  secretPaths: readonly Path[];
  /** URNs of the resources that the property depends on. */
  urns: readonly string[];
}

const prefix = "serverless-compute:index:";
const component = `${prefix}VerifiedEndpoint`;
/** Resources of the component by the input with their inputs. */
const kinds = { template: "Template", endpoint: "ServerlessEndpoint" } as const;

/** Registers a VerifiedEndpoint with the engine, which deploys its endpoint and its template, if it has one, through this provider. */
export async function construct(
  request: ConstructRequest,
  { log }: Pick<ProviderProcess, "log">,
): Promise<ConstructResponse> {
  const { type, name, monitorEndpoint, inputs, customTimeouts, ignoreChanges, replaceOnChanges } = request;
  if (type !== component) throw new Error(`unknown component ${type}; this provider supports only ${component}`);
  const { failures } = checkInputs(verifiedEndpointInputs, {}, inputs.properties, undefined, inputs.secretPaths);
  if (failures.length > 0) throw new Error(failures.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));

  const monitor = connectMonitor(monitorEndpoint);
  try {
    const { urn } = await monitor.register(componentOf(request));
    for (const warning of pathWarnings({ ignoreChanges, replaceOnChanges })) void log.warning(urn, warning);
    // The engine passes the component's options to its resources, except for the timeouts and the paths of inputs.
    const register = (part: keyof typeof kinds, properties: readonly Property[]): Promise<Registered> =>
      monitor.register({
        type: prefix + kinds[part],
        name,
        parent: urn,
        custom: true,
        customTimeouts,
        ignoreChanges: pathsOf(part, ignoreChanges),
        replaceOnChanges: pathsOf(part, replaceOnChanges),
        object: propertyMapOf(properties),
        propertyDependencies: dependenciesOf(properties),
        dependencies: [...new Set(properties.flatMap(({ urns }) => urns))],
      });

    const replaceOnChange: Property = { key: "replaceOnChange", value: true, secretPaths: [], urns: [] };
    const template =
      (inputs.properties["template"] ?? null) === null
        ? undefined
        : await register("template", [...inputsIn("template", request), replaceOnChange]);
    const templateId = template ? [outputOf(template, "id", "templateId", request)] : [];
    const verify = inputOf("verify", request);
    const endpoint = await register("endpoint", [...inputsIn("endpoint", request), ...templateId, verify]);

    const outputs = [
      outputOf(endpoint, "id", "endpointId", request),
      ...templateId,
      outputOf(endpoint, "url", "url", request),
      outputOf(endpoint, "version", "version", request),
      outputOf(template ?? endpoint, "revision", "revision", request),
    ];
    const state = propertyMapOf(outputs);
    await monitor.registerOutputs({ urn, outputs: state });
    return { urn, state, stateDependencies: dependenciesOf(outputs) };
  } finally {
    monitor.close();
  }
}

/** Registration of the component, with its resource options. */
function componentOf({ inputs: _inputs, inputDependencies: _dependencies, ...options }: ConstructRequest) {
  const { dryRun: _dryRun, monitorEndpoint: _monitorEndpoint, ...registration } = options;
  return registration;
}

/** Input of the component. */
const inputOf = (key: string, { inputs, inputDependencies }: ConstructRequest): Property => ({
  key,
  value: inputs.properties[key] ?? null,
  secretPaths: inputs.secretPaths.filter(([first]) => first === key),
  urns: inputDependencies.get(key)?.urns ?? [],
});

const { template, endpoint } = verifiedEndpointInputs.shape;
/** Component inputs that contain the inputs of a resource. */
const groups = { template: template.unwrap().shape, endpoint: endpoint.unwrap().shape };

/** Resource inputs in a component input. If the component input is unknown in a preview, all of its resource inputs are unknown. */
function inputsIn(group: keyof typeof groups, request: ConstructRequest): Property[] {
  const { value, secretPaths, urns } = inputOf(group, request);
  const isUnknown = value instanceof Unknown;
  const keys = isUnknown ? Object.keys(groups[group]) : isProperties(value) ? Object.keys(value) : [];
  return keys.map((key) => ({
    key,
    urns,
    value: valueAt(value, [key]) ?? null,
    secretPaths: isSecretAt([group], secretPaths)
      ? [[key]]
      : secretPaths.map(([, ...path]) => path).filter(([first]) => first === key),
  }));
}

/** Component output `key` with the value of a resource's output; a value that is missing in a preview is unknown. */
function outputOf(
  { urn, id, object }: Registered,
  output: string,
  key: string,
  { dryRun }: ConstructRequest,
): Property {
  const value = output === "id" ? id || undefined : object.properties[output];
  return {
    key,
    urns: [urn],
    value: value ?? (dryRun ? Unknown.value : null),
    secretPaths: isSecretAt([output], object.secretPaths) ? [[key]] : [],
  };
}

const propertyMapOf = (properties: readonly Property[]): PropertyMap => ({
  properties: Object.fromEntries(properties.map(({ key, value }) => [key, value])),
  secretPaths: properties.flatMap(({ secretPaths }) => secretPaths),
});

const dependenciesOf = (properties: readonly Property[]) =>
  new Map(properties.map(({ key, urns }) => [key, { urns: [...urns] }]));
