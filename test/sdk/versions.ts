/** Pinned versions of the published packages in the tests; package.json pins the first two. */
export const versions = {
  javascriptSdk: "1.1.2",
  aiSdkProvider: "1.4.0",
  pythonSdk: "1.12.0",
  pythonSdk2: "2.0.0rc2",
  flash: "1.21.0",
  dstack: "0.22.5",
  runpodctl: "2.7.2",
  pulumiProvider: "0.1.5",
  mcpServer: "4.0.0",
  mcpServer3: "3.4.0",
} as const;
