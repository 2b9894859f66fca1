/** Maximum length of a stored input, in characters. */
const maxLength = 20_000;

/** Names of members that may contain secrets; their values are not stored. */
const secretNamePattern = /key|token|secret|password|passwd|credential|authorization/i;

/** @param {string} endpointId */
const storageKey = (endpointId) => `input:${endpointId}`;

/**
 * The last submitted input of an endpoint, as JSON text.
 * @param {string} endpointId
 */
export const rememberedInput = (endpointId) => localStorage.getItem(storageKey(endpointId));

/**
 * Stores an input in this browser, without the values of members with secret-like names.
 * @param {string} endpointId
 * @param {string} text JSON.
 */
export function rememberInput(endpointId, text) {
  let hasSecret = false;
  /** @type {(name: string, value: unknown) => unknown} */
  const hideSecret = (name, value) => {
    if (!secretNamePattern.test(name)) return value;
    hasSecret = true;
    return "";
  };
  const redactedText = JSON.stringify(JSON.parse(text), hideSecret, 2);
  if (text.length <= maxLength) localStorage.setItem(storageKey(endpointId), hasSecret ? redactedText : text);
}

/**
 * Removes the inputs of deleted endpoints.
 * @param {string[]} endpointIds Ids of the existing endpoints.
 */
export function removeOtherInputs(endpointIds) {
  const currentKeys = new Set(endpointIds.map(storageKey));
  for (const name of Object.keys(localStorage))
    if (name.startsWith("input:") && !currentKeys.has(name)) localStorage.removeItem(name);
}
