import { type SettingRule, settingNames, settingTable } from "../../../provider/settings/setting-table";
import type { PropertySpec } from "./property-spec";

/** The source of a setting that the program does not set. */
const sources = ({ variable, defaultValue }: SettingRule): string =>
  defaultValue === undefined
    ? `Else the environment variable \`${variable}\`.`
    : `Else \`${variable}\`, else \`${defaultValue}\`.`;

const spec = (rule: SettingRule): PropertySpec => ({
  type: rule.type,
  description: `${rule.description} ${sources(rule)}`,
  ...(rule.defaultValue === undefined ? {} : { default: rule.defaultValue }),
  ...(rule.secret ? { secret: true } : { defaultInfo: { environment: [rule.variable] } }),
});

/**
 * The settings of the package. A generated SDK writes defaults and environment variables into the provider's arguments, and thus into
 * state. The key has neither, so that a key from the environment is never stored; the plugin reads it instead.
 */
export const settingSpecs: Record<string, PropertySpec> = Object.fromEntries(
  settingNames.map((name) => [name, spec(settingTable[name])]),
);
