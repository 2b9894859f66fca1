// Texts of the resources' pages that the schema does not contain.

/**
 * @typedef {object} ResourceTexts
 * @property {Record<string, string[]>} inputs Names of all inputs by group, the most important first.
 * @property {string} replacement Effects of a replacement, and of changes in place.
 * @property {string} drift
 * @property {string} import
 * @property {[message: string, solution: string][]} errors Parts of messages, with solutions.
 */

const nameTaken = /** @type {const} */ ([
  "the name is already taken in this account",
  "Set another `name`, or adopt the object.",
]);
const fixedWhenAdopted = /** @type {const} */ ([
  "which cannot change in place",
  "The object to adopt has another value: use that value, or another name.",
]);
const severalToAdopt = /** @type {const} */ ([
  "adoptExisting requires exactly one object",
  "Several objects have the name: rename the others, or import by id.",
]);

/** Texts by resource, the most important first. @type {Record<string, ResourceTexts>} */
export const resourceTexts = {
  ServerlessEndpoint: {
    inputs: {
      "Container: of the endpoint, or of a template": [
        "imageName",
        "templateId",
        "env",
        "containerRegistryAuthId",
        "dockerArgs",
        "dockerEntrypoint",
        "dockerStartCmd",
        "containerDiskInGb",
        "ports",
      ],
      Hardware: [
        "gpuTypeIds",
        "gpuCount",
        "gpuPools",
        "excludedGpuTypeIds",
        "computeType",
        "cpuFlavorIds",
        "vcpuCount",
        "networkVolumeId",
        "networkVolumeIds",
        "dataCenterIds",
        "minCudaVersion",
        "allowedCudaVersions",
      ],
      "Workers and scaling": [
        "workersMax",
        "workersMin",
        "idleTimeout",
        "scalerType",
        "scalerValue",
        "executionTimeoutMs",
        "flashboot",
        "flashbootType",
        "type",
      ],
      "Rollout, name and adoption": ["verify", "name", "adoptExisting"],
    },
    replacement:
      "The new endpoint has another `url`, and the old one is deleted with its logs and job history; the preview warns. Every other change happens in place. A change of the container, the GPU types or the volumes also replaces the workers, which is a [rollout](../service-workers.md#rollouts).",
    drift:
      "A refresh reads all properties that the service returns. An input that the program omits keeps the value of the service, unless it contradicts the program: `workersMax: 2` also lowers a `workersMin` of 3. A `-fb` suffix of the name is not drift.",
    import:
      "The import reads all properties except `verify`. With REST v2, an endpoint of another client names the first template with the same settings. If there is none, it has its own container.",
    errors: [
      ["failed its verification", "The new version was rolled back; the message contains the reason."],
      ["the account's limit is reached", "Lower `workersMax` of an endpoint, or request a higher limit."],
      [...severalToAdopt],
      [...fixedWhenAdopted],
    ],
  },
  VerifiedEndpoint: {
    inputs: { "": ["verify", "endpoint", "template"] },
    replacement:
      "Each change of `template` creates a new template, and the old one is deleted after the verification. The endpoint is changed in place. A change of its `computeType` or `type` replaces it.",
    drift:
      "The component has no properties of its own in the service. Its parts behave like a [Template](template.md#drift) and a [ServerlessEndpoint](serverless-endpoint.md#drift).",
    import:
      "A component cannot be imported, but its endpoint and its template can. The simplest way to bring in an existing endpoint is `name` with `adoptExisting: true` in `endpoint`.",
    errors: [
      ["failed its verification", "The previous version is restored; the message contains the reason."],
      ["the account's limit is reached", "Lower `workersMax` of an endpoint, or request a higher limit."],
    ],
  },
  Template: {
    inputs: {
      Container: [
        "imageName",
        "env",
        "containerRegistryAuthId",
        "dockerArgs",
        "dockerEntrypoint",
        "dockerStartCmd",
        "containerDiskInGb",
        "ports",
      ],
      "Name, adoption and updates": ["name", "replaceOnChange", "adoptExisting"],
      "Rarely needed for endpoints": [
        "isServerless",
        "volumeInGb",
        "volumeMountPath",
        "category",
        "readme",
        "isPublic",
        "startSsh",
        "startJupyter",
        "allowedCudaVersions",
      ],
    },
    replacement:
      "Every other change happens in place and reaches each endpoint that uses the template. With `replaceOnChange`, each change of its container creates a new template instead, and the old one is deleted when no endpoint uses it. With REST v2, a change of `volumeInGb` to 0 also replaces the template. [Templates in use](../guides/templates-in-use.md#replace) shows how to replace a template that has a `name`.",
    drift:
      "A refresh reads all properties that the service returns. With REST v2, each endpoint has a copy of its template. A copy that was changed elsewhere is drift of the endpoint.",
    import: "The import reads all properties. Values of secrets in `env` are references, so they contain no value.",
    errors: [
      [...nameTaken],
      [
        "still uses it and is not deleted by this deployment",
        "Delete the endpoint that the message names, or assign another template to it.",
      ],
      ["no endpoint uses it, but a pod may", "Run the command again, or raise `templateReleaseLimit`."],
    ],
  },
  JobInvoke: {
    inputs: {
      "Job or request": ["endpointId", "input", "expect", "triggers", "timeout", "request"],
      "Rarely needed": ["policy", "mode", "storeOutput", "webhook", "s3Config"],
    },
    replacement:
      "Nothing replaces a `JobInvoke`. A change of any input runs the job again, except `storeOutput: false`, which only removes the output from the state. A delete sends no request.",
    drift:
      "A finished job is not read again, because the service keeps its result for minutes only. A `JobInvoke` has no drift.",
    import: "A `JobInvoke` cannot be imported: it always runs a new job.",
    errors: [
      ["ended FAILED, expected COMPLETED", "The handler threw an error, which the message contains."],
      [
        "No worker started the job. Raise workersMax, or timeout",
        "Look up the reason with `status`, or raise `workersMax` or `timeout`.",
      ],
      ["but its output differs from the expected one", "Compare the listed differences with `expect`."],
      ["is gone", "The result was deleted before it was read: raise `policy.ttl`."],
    ],
  },
  Secret: {
    inputs: { "": ["value", "description", "name", "adoptExisting"] },
    replacement:
      "Containers refer to a secret by its name. A replacement therefore also updates the templates and endpoints that use `reference`. A new `value` reaches workers that start after the deployment.",
    drift:
      "A refresh reads the name and the description. The service never returns the value, so a value that someone else has written does not show as drift.",
    import: "The state of an imported secret has no value. The next `pulumi up` writes the value of your program.",
    errors: [
      [...nameTaken],
      ["by default; must be letters, digits, _, ., - and /", "The resource's name has other characters: set `name`."],
    ],
  },
  NetworkVolume: {
    inputs: { "": ["size", "dataCenterId", "type", "name", "adoptExisting"] },
    replacement:
      "The new volume is empty, and the old one is deleted with its data; the preview warns. The resource option `protect: true` prevents this. A larger `size` and another `name` change in place.",
    drift:
      "A refresh reads all properties. A volume that was enlarged elsewhere cannot shrink: the preview then reports that the size in the program is too small.",
    import: "The import reads all properties.",
    errors: [
      ["cannot shrink from", "Create the smaller volume under another resource name, and move the data."],
      ["still in use", "Delete the endpoint that the message names, or detach the volume."],
      [...severalToAdopt],
      [...fixedWhenAdopted],
    ],
  },
  ContainerRegistryAuth: {
    inputs: { "": ["username", "password", "name", "adoptExisting"] },
    replacement:
      "With REST v2, a change of `username` or `password` also replaces the credentials. Templates get the new id before the old credentials are deleted. If the program sets `name`, the old ones are deleted first, and workers that start in between cannot pull private images: omit `name` to avoid this.",
    drift:
      "A refresh reads only the name. The service never returns the credentials, so changed credentials do not show as drift.",
    import:
      "The state of imported credentials has neither user name nor password. The next `pulumi up` writes them with REST v1, and replaces the credentials with REST v2. To keep them, set the resource option `ignoreChanges` for both.",
    errors: [[...nameTaken]],
  },
};
