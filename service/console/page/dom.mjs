/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

const svgNames = new Set(["svg", "path", "line", "rect", "title"]);

/**
 * Makes an element. An attribute that is false, null or undefined is left out; one that is true is empty.
 * @template {string} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {Element}
 */
export function h(name, attributes = {}, ...children) {
  const element = svgNames.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * A time in the browser's time zone, with UTC in the tooltip.
 * @param {number} time
 * @param {string} [text] Default: the local time of day.
 */
export function timeOf(time, text = new Date(time).toLocaleTimeString()) {
  const utc = new Date(time).toISOString();
  return h("time", { datetime: utc, title: utc }, text);
}

/**
 * An element that keeps itself, for a view: itself where it is in no page yet, else a stand-in that `morph` leaves it for. To be
 * moved would take its focus and its scroll position.
 * @param {Element} element It has `data-own` and a `data-key`.
 */
export const own = (element) =>
  element.isConnected
    ? h(element.tagName.toLowerCase(), { "data-own": true, "data-key": element.getAttribute("data-key") })
    : element;

/**
 * Returns the identity of a child element; children with different keys are different elements.
 * @param {Node | null | undefined} node
 */
const keyOf = (node) =>
  node instanceof Element ? `${node.tagName} ${node.getAttribute("data-key") ?? ""}` : node?.nodeName;

/**
 * Makes an element's content equal to another one's. Existing elements keep their focus, selection and scroll position.
 * Elements with `data-own` are ignored.
 * @param {Element} present
 * @param {Element} wanted
 */
function morph(present, wanted) {
  for (const { name } of [...present.attributes]) if (!wanted.hasAttribute(name)) present.removeAttribute(name);
  for (const { name, value } of [...wanted.attributes])
    if (present.getAttribute(name) !== value) present.setAttribute(name, value);
  if (wanted.hasAttribute("data-own")) return;
  morphChildren(present, [...wanted.childNodes]);
}

/**
 * @param {Element} present
 * @param {Node[]} wanted
 */
export function morphChildren(present, wanted) {
  wanted.forEach((node, at) => {
    let here = present.childNodes[at];
    if (keyOf(here) !== keyOf(node)) {
      const moved = [...present.childNodes].slice(at + 1).find((other) => keyOf(other) === keyOf(node));
      // Only elements with a key are known to be the same somewhere else.
      const isKnown = moved instanceof Element && moved.hasAttribute("data-key");
      const before = here ?? null;
      here = isKnown ? moved : undefined;
      present.insertBefore(here ?? node, before);
    }
    if (!here) return;
    if (here instanceof Element && node instanceof Element) morph(here, node);
    else if (here.nodeValue !== node.nodeValue) here.nodeValue = node.nodeValue;
  });
  while (present.childNodes.length > wanted.length) present.lastChild?.remove();
}

/**
 * The element of the page with an id; it is there.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}
