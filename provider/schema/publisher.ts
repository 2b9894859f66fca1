/**
 * Publisher of the packages and its addresses, from `publisher.json`, the only source. If a value is null, it is omitted
 * everywhere and a release fails.
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

/** The part of the package schema with the publisher and the plugin's download address. */
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

/** Package name of the SDK in each language. */
export const sdkNames = ({ repository, npmScope }: Publisher) => ({
  nodejs: [...(npmScope === null ? [] : [npmScope]), "pulumi-serverless-compute-sdk"].join("/"),
  python: "pulumi_serverless_compute",
  // `.example` is a reserved domain, so Go resolves such a module only through a `replace` directive.
  go: `${repository === null ? "serverless-compute.example" : `github.com/${repository}`}/sdk/go/serverlesscompute`,
  csharp: "Pulumi.ServerlessCompute",
  java: "com.pulumi.serverlesscompute",
});

/** The names of the SDKs, by language. */
export type SdkNames = ReturnType<typeof sdkNames>;
