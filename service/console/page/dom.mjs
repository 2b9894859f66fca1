/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

const svgNames = new Set(["svg", "path", "line", "rect", "title"]);

/**
 * Creates an element. Attributes that are false, null or undefined are omitted; true becomes an empty attribute.
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
 * Returns a self-managed element for a view: the element itself until it is in the page, then a placeholder that `morph` matches with it.
 * Moving the element would lose its focus and scroll position.
 * @param {Element} element An element with `data-own` and a `data-key`.
 */
export const placeholderOf = (element) =>
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
 * Updates an element to equal another. Existing elements keep their focus, selection and scroll position.
 * Elements with `data-own` are ignored.
 * @param {Element} current
 * @param {Element} target
 */
function morph(current, target) {
  for (const { name } of [...current.attributes]) if (!target.hasAttribute(name)) current.removeAttribute(name);
  for (const { name, value } of [...target.attributes])
    if (current.getAttribute(name) !== value) current.setAttribute(name, value);
  if (target.hasAttribute("data-own")) return;
  morphChildren(current, [...target.childNodes]);
}

/**
 * @param {Element} current
 * @param {Node[]} target
 */
export function morphChildren(current, target) {
  target.forEach((node, index) => {
    let existing = current.childNodes[index];
    if (keyOf(existing) !== keyOf(node)) {
      const sameKey = [...current.childNodes].slice(index + 1).find((child) => keyOf(child) === keyOf(node));
      // Only elements with a key can be matched at another position.
      const hasKey = sameKey instanceof Element && sameKey.hasAttribute("data-key");
      const nextSibling = existing ?? null;
      existing = hasKey ? sameKey : undefined;
      current.insertBefore(existing ?? node, nextSibling);
    }
    if (!existing) return;
    if (existing instanceof Element && node instanceof Element) morph(existing, node);
    else if (existing.nodeValue !== node.nodeValue) existing.nodeValue = node.nodeValue;
  });
  while (current.childNodes.length > target.length) current.lastChild?.remove();
}

/**
 * Returns the page's element with an id; throws an Error if it does not exist.
 * @param {string} id
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element "${id}"`);
  return element;
}
