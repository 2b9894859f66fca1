/**
 * Who publishes the packages, and where: `publisher.json`, which nothing else repeats. While a value is null the project
 * has no such thing, nothing names one, and a release refuses to publish.
 */
export interface Publisher {
  /** Owner and name of the GitHub repository, as in `owner/name`. */
  repository: string | null;
  /** The name that registries show beside the package. */
  publisher: string | null;
  /** The npm scope of the Node SDK, with its `@`; null for none. */
  npmScope: string | null;
}

/** The addresses that follow from the repository; undefined while there is none. */
export function repositoryLinks({ repository }: Publisher) {
  if (repository === null) return undefined;
  const page = `https://github.com/${repository}`;
  return {
    page,
    issues: `${page}/issues`,
    documentation: `${page}#readme`,
    docs: `${page}/blob/main/docs`,
    git: `git+${page}.git`,
  };
}

/** The part of the package schema that says who publishes it and where Pulumi gets the plugin from. */
export function publishedAt(publisher: Publisher) {
  const links = repositoryLinks(publisher);
  return {
    ...(publisher.publisher === null ? {} : { publisher: publisher.publisher }),
    ...(links === undefined
      ? {}
      : {
          homepage: links.documentation,
          repository: links.page,
          logoUrl: `https://raw.githubusercontent.com/${publisher.repository}/main/docs/logo.svg`,
          pluginDownloadURL: `github://api.github.com/${publisher.repository}`,
        }),
  };
}

/** What the SDK of each language is called by the programs that use it. */
export const sdkNames = ({ repository, npmScope }: Publisher) => ({
  nodejs: [...(npmScope === null ? [] : [npmScope]), "pulumi-serverless-compute-sdk"].join("/"),
  python: "pulumi_serverless_compute",
  // `.example` leads nowhere by its definition: Go finds such a module only where a `replace` line says so.
  go: `${repository === null ? "serverless-compute.example" : `github.com/${repository}`}/sdk/go/serverlesscompute`,
  csharp: "Pulumi.ServerlessCompute",
  java: "com.pulumi.serverlesscompute",
});

/** The names of the SDKs, by language. */
export type SdkNames = ReturnType<typeof sdkNames>;
