import type { SdkNames } from "../../publisher.mjs";

/** Language options of generated SDKs: names, dependencies, and the schema's version as the SDKs' version. */
export const languages = (names: SdkNames) => ({
  nodejs: {
    packageName: names.nodejs,
    packageDescription: "Pulumi SDK of a serverless GPU compute service, for the provider plugin.",
    dependencies: { "@pulumi/pulumi": "^3.200.0" },
    devDependencies: { "@types/node": "^20", typescript: "^5.0.0" },
    respectSchemaVersion: true,
  },
  python: {
    packageName: names.python,
    requires: { pulumi: ">=3.165.0,<4.0.0" },
    pyproject: { enabled: true },
    inputTypes: "classes-and-dicts",
    respectSchemaVersion: true,
  },
  go: {
    importBasePath: names.go,
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
});
