// Written by npm run generate from publisher.json: change that, not this file.

/** Web address of the docs; undefined if they are not published. */
export const pagesAddress: string | undefined = undefined;

/** Package names of the SDKs. */
export const sdkPackages = {
  nodejs: "pulumi-serverless-compute-sdk",
  python: "pulumi_serverless_compute",
  go: "serverless-compute.example/sdk/go/serverlesscompute",
};
