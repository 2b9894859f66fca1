import { rule } from "serverless-compute-api/shapes";
import { z } from "zod";
import { serverlessEndpointInputs, serverlessEndpointOutputs } from "../serverless-endpoint/inputs";
import { templateInputs, templateOutputs } from "../template/inputs";

// The component sets these inputs of its resources.
const { replaceOnChange: _replaceOnChange, ...template } = templateInputs.shape;
const { templateId: _templateId, verify, ...endpoint } = serverlessEndpointInputs.shape;
const { url, version } = serverlessEndpointOutputs.shape;

/** Inputs of a VerifiedEndpoint. */
export const verifiedEndpointInputs = z
  .strictObject({
    template: z
      .strictObject(template)
      .describe(
        "Configuration of the workers. Each change creates a new template. Required if endpoint.imageName is not set.",
      )
      .optional(),
    endpoint: z
      .strictObject(endpoint)
      .describe("Hardware, number and scaling of workers; with REST v2 also their container.")
      .optional(),
    verify: verify.unwrap(),
  })
  .check(
    rule(
      ["template", "endpoint"],
      (inputs) => inputs.template !== undefined || inputs.endpoint?.imageName !== undefined,
      {
        path: "template",
        error: "is required without endpoint.imageName",
      },
    ),
  );

/** Outputs of a VerifiedEndpoint. */
export const verifiedEndpointOutputs = z.object({
  endpointId: z.string().describe("Id of the endpoint."),
  templateId: z.string().describe("Id of the template that the endpoint uses; absent without one.").optional(),
  url,
  version,
  revision: templateOutputs.shape.revision.describe(
    "Hash of the image, arguments, environment, ports, disk and registry credentials of the template, or of the endpoint without one.",
  ),
});

/** Description of the component in the schema. */
export const verifiedEndpointDescription =
  "An endpoint with a safe rollout: after each change of its container, a worker of the new version must complete a job as expected. " +
  "If the job fails, the endpoint is rolled back to the previous version. The component consists of a `ServerlessEndpoint` and, with " +
  "`template`, a `Template`. The option `customTimeouts` applies to both; `ignoreChanges` and `replaceOnChanges` apply to paths such as " +
  "`endpoint.workersMax`, also in Python.";
