import * as pulumi from "@pulumi/pulumi";
import { JobInvoke, ServerlessEndpoint, Template } from "pulumi-serverless-compute";

/** Inputs of a tested endpoint. */
export interface TestedEndpointArgs {
  imageName: pulumi.Input<string>;
  env?: Record<string, pulumi.Input<string>>;
  /** Workers at most; 1 when absent. */
  workersMax?: pulumi.Input<number>;
  /** The job that has to be answered as expected before anybody learns the address. */
  test: { input: Record<string, unknown>; output: unknown };
}

/** A template, an endpoint that runs it, and a job that proves each new revision. */
export class TestedEndpoint extends pulumi.ComponentResource {
  /** Root of the job API, known once the test has passed. */
  readonly url: pulumi.Output<string>;

  constructor(name: string, { imageName, env = {}, workersMax = 1, test }: TestedEndpointArgs, options = {}) {
    super("acme:index:TestedEndpoint", name, {}, options);
    const parent = { parent: this };
    const template = new Template(name, { imageName, env }, parent);
    const endpoint = new ServerlessEndpoint(name, { templateId: template.id, workersMax }, parent);
    const smoke = new JobInvoke(
      `${name}-answers`,
      {
        endpointId: endpoint.id,
        input: test.input,
        expect: { output: test.output },
        triggers: [template.revision],
      },
      parent,
    );
    this.url = pulumi.all([endpoint.url, smoke.status]).apply(([url]) => url);
    this.registerOutputs({ url: this.url });
  }
}
