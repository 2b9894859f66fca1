/** What the SDK of each language is called by the programs that use it. */
export const sdkNames = {
  nodejs: "pulumi-serverless-compute-sdk",
  python: "pulumi_serverless_compute",
  // No place on the web is settled yet; `.example` leads nowhere by its definition.
  go: "serverless-compute.example/sdk/go/serverlesscompute",
  csharp: "Pulumi.ServerlessCompute",
  java: "com.pulumi.serverlesscompute",
} as const;

/** How generated SDKs look: names, what they build on, and the schema's version as theirs. */
export const languages = {
  nodejs: {
    packageName: sdkNames.nodejs,
    packageDescription: "Pulumi SDK of a serverless GPU compute service, for the provider plugin.",
    dependencies: { "@pulumi/pulumi": "^3.200.0" },
    devDependencies: { "@types/node": "^20", typescript: "^5.0.0" },
    respectSchemaVersion: true,
  },
  python: {
    packageName: sdkNames.python,
    requires: { pulumi: ">=3.165.0,<4.0.0" },
    pyproject: { enabled: true },
    inputTypes: "classes-and-dicts",
    respectSchemaVersion: true,
  },
  go: {
    importBasePath: sdkNames.go,
    rootPackageName: "serverlesscompute",
    respectSchemaVersion: true,
  },
  csharp: {
    rootNamespace: "Pulumi",
    namespaces: { "serverless-compute": "ServerlessCompute" },
    packageReferences: { Pulumi: "3.*" },
    respectSchemaVersion: true,
  },
  java: {
    basePackage: "com.pulumi",
    buildFiles: "gradle",
  },
} as const;
