/** Inputs above this length are not remembered, in characters. */
const longest = 20_000;

/** Names of members that may hold a secret: their values are not remembered. */
const secretName = /key|token|secret|password|passwd|credential|authorization/i;

/** @param {string} endpointId */
const nameOf = (endpointId) => `input:${endpointId}`;

/**
 * The input that was last submitted to an endpoint, as JSON text.
 * @param {string} endpointId
 */
export const rememberedInput = (endpointId) => localStorage.getItem(nameOf(endpointId));

/**
 * Remembers an input in this browser, without the values of members that are named like secrets.
 * @param {string} endpointId
 * @param {string} text JSON.
 */
export function rememberInput(endpointId, text) {
  let hides = false;
  /** @type {(name: string, value: unknown) => unknown} */
  const hide = (name, value) => {
    if (!secretName.test(name)) return value;
    hides = true;
    return "";
  };
  const hidden = JSON.stringify(JSON.parse(text), hide, 2);
  if (text.length <= longest) localStorage.setItem(nameOf(endpointId), hides ? hidden : text);
}

/**
 * Forgets the inputs of endpoints that are gone.
 * @param {string[]} endpointIds Those that are there.
 */
export function forgetOthers(endpointIds) {
  const known = new Set(endpointIds.map(nameOf));
  for (const name of Object.keys(localStorage))
    if (name.startsWith("input:") && !known.has(name)) localStorage.removeItem(name);
}
