// The resource classes of the plugin for Node programs, created from schema.json in place of a generated SDK.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const pulumi = require("@pulumi/pulumi");

const schema = JSON.parse(readFileSync(join(__dirname, "..", "..", "..", "schema.json"), "utf8"));
const nameOf = (token) => token.slice(token.lastIndexOf(":") + 1);

for (const [token, { properties }] of Object.entries(schema.resources)) {
  const outputs = Object.fromEntries(Object.keys(properties).map((key) => [key, undefined]));
  exports[nameOf(token)] = class extends pulumi.CustomResource {
    constructor(name, args, options) {
      super(token, name, { ...outputs, ...args }, options);
    }
  };
}

for (const token of Object.keys(schema.functions ?? {})) {
  exports[nameOf(token)] = (args, options) => pulumi.runtime.invoke(token, args, options);
}

/** A separate account, for the `provider` option. */
exports.Provider = class extends pulumi.ProviderResource {
  constructor(name, args, options) {
    super(schema.name, name, args, options);
  }
};
