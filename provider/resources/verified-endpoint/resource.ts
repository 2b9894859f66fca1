import * as pulumi from "@pulumi/pulumi";
import type { ServerlessEndpointArgs, ServerlessEndpointVerifyArgs, TemplateArgs } from "../../generated/args";
import { ServerlessEndpoint } from "../serverless-endpoint/resource";
import { Template } from "../template/resource";
import { pathsOf, pathWarnings } from "./option-paths";

/** Inputs of a {@link VerifiedEndpoint}. */
export interface VerifiedEndpointArgs {
  /** Configuration of the workers; each change creates a new template. Required if `endpoint.imageName` is not set. */
  template?: Omit<TemplateArgs, "replaceOnChange">;
  /** Hardware, number and scaling of the workers; with REST v2 also their container. */
  endpoint?: Omit<ServerlessEndpointArgs, "templateId" | "verify">;
  /** Job that a worker of each new version must complete as expected. */
  verify: pulumi.Input<ServerlessEndpointVerifyArgs>;
}

/**
 * Endpoint with a safe rollout. After each change of its container, a worker of the new version must complete a job as expected. If
 * the job fails, the endpoint is rolled back to the previous version. With `template`, each change creates a new template. The
 * option `customTimeouts` applies to both resources, and `ignoreChanges` and `replaceOnChanges` to paths such as `endpoint.workersMax`.
 * ```ts
 * const chat = new VerifiedEndpoint("chat", {
 *   endpoint: {
 *     imageName: "ghcr.io/acme/chat:1.4.2",
 *     env: { MODEL: "mistral-7b" },
 *     gpuTypeIds: ["NVIDIA L4"],
 *     workersMax: 3,
 *   },
 *   verify: { input: { prompt: "ping" }, expect: { output: { text: "pong" } }, timeout: 300 },
 * });
 * export const url = chat.url;
 * ```
 */
export class VerifiedEndpoint extends pulumi.ComponentResource {
  /** Template of the workers; undefined if the endpoint has its own container. */
  readonly template: Template | undefined;
  readonly endpoint: ServerlessEndpoint;
  /** Id of the endpoint. */
  readonly endpointId: pulumi.Output<string>;
  /** Id of the template that the endpoint uses; undefined without one. */
  readonly templateId: pulumi.Output<string | undefined>;
  /** Root of the endpoint's job API. */
  readonly url: pulumi.Output<string>;
  /** Version number of the workers' content. */
  readonly version: pulumi.Output<number>;
  /** Hash of the template's content; without a template, of the endpoint's container. */
  readonly revision: pulumi.Output<string>;

  constructor(name: string, args: VerifiedEndpointArgs, opts?: pulumi.ComponentResourceOptions) {
    super("serverless-compute:index:VerifiedEndpoint", name, {}, opts);
    const { template, endpoint = {}, verify }: Partial<VerifiedEndpointArgs> = args ?? {};
    // The endpoint would be deployed without a verification.
    if (verify === undefined) throw new pulumi.ResourceError(`VerifiedEndpoint "${name}": verify: is required`, this);
    const { customTimeouts, ignoreChanges, replaceOnChanges } = opts ?? {};
    for (const warning of pathWarnings({ ignoreChanges, replaceOnChanges })) void pulumi.log.warn(warning, this);
    // The engine passes a component's providers and similar options to its resources, but not these.
    const optionsOf = (part: "template" | "endpoint"): pulumi.CustomResourceOptions => ({
      parent: this,
      ...(customTimeouts && { customTimeouts }),
      ...(ignoreChanges && { ignoreChanges: pathsOf(part, ignoreChanges) }),
      ...(replaceOnChanges && { replaceOnChanges: pathsOf(part, replaceOnChanges) }),
    });
    this.template = template && new Template(name, { ...template, replaceOnChange: true }, optionsOf("template"));
    this.templateId = this.template?.id ?? pulumi.output(undefined);
    const inputs = this.template ? { ...endpoint, templateId: this.template.id } : endpoint;
    this.endpoint = new ServerlessEndpoint(name, { ...inputs, verify }, optionsOf("endpoint"));
    this.endpointId = this.endpoint.id;
    this.url = this.endpoint.url;
    this.version = this.endpoint.version;
    this.revision = this.template?.revision ?? this.endpoint.revision;
    const { endpointId, templateId, url, version, revision } = this;
    this.registerOutputs({ endpointId, templateId, url, version, revision });
  }
}
