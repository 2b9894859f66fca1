import { filterQuery, routeOf } from "./address.mjs";
import { CallError, listen, signInWith } from "./connection.mjs";
import { byId, h, morphChildren } from "./dom.mjs";
import { endpointChoice, endpointList, loading } from "./endpoint-list.mjs";
import { createEndpointPage } from "./endpoint-page.mjs";
import { removeOtherInputs } from "./remembered-input.mjs";
import { resourceLists } from "./resource-lists.mjs";

const main = byId("main");
const connection = byId("connection");
const notice = byId("notice");
const problem = byId("problem");

/** Display time of a notice, ms. */
const noticeTime = 6000;
/** Interval at which ages and running times are updated, ms. */
const renderInterval = 1000;

/** @type {import("./connection.mjs").Endpoint[] | undefined} */
let endpoints;
/** @type {import("./connection.mjs").Resources | undefined} */
let resources;
/** @type {ReturnType<typeof createEndpointPage> | undefined} */
let page;
/** The view in the address, with its endpoint. @type {string | undefined} */
let currentView;
let signedOut = false;
/** The reason why the last sign-in failed. @type {string | undefined} */
let signInFault;
/** Ends the current subscription. */
let stopListening = () => {};
let isRenderScheduled = false;

/** @param {string} text */
function notify(text) {
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(Number(notice.dataset["timer"]));
  notice.dataset["timer"] = String(setTimeout(() => (notice.hidden = true), noticeTime));
}

/** Renders the page in the next frame; coalesces requests until then. */
function requestRender() {
  if (isRenderScheduled) return;
  isRenderScheduled = true;
  requestAnimationFrame(() => {
    isRenderScheduled = false;
    morphChildren(main, [render()]);
    document.title = `${main.querySelector("h1")?.textContent ?? "Console"} · Serverless Compute, local`;
  });
}

/**
 * The endpoints with an id or name in the address: an id is unique, a name may not be.
 * @param {string} idOrName
 */
function endpointsOf(idOrName) {
  const byUniqueId = endpoints?.find(({ id }) => id === idOrName);
  return byUniqueId ? [byUniqueId] : (endpoints ?? []).filter(({ name }) => name === idOrName);
}

function render() {
  if (signedOut) return signIn();
  const route = routeOf(location.hash);
  if (route.view !== "endpoint") return route.view === "resources" ? resourceLists(resources) : endpointList(endpoints);
  if (!endpoints) return loading();
  const endpoint = endpoints.find(({ id }) => id === page?.endpointId);
  return page && endpoint ? page.render(endpoint) : endpointChoice(route.endpoint, endpointsOf(route.endpoint));
}

/** Fragment to which the service redirects a link that opens no session. */
const usedLink = "#/used-link";

const signIn = () =>
  h(
    "section",
    { "data-key": "sign-in", class: "empty" },
    h("h1", {}, "This browser has no session"),
    h("p", { hidden: location.hash !== usedLink }, "The link was already used, or has expired."),
    h("p", {}, "Enter the API key, which this command prints on the service's machine:"),
    h("pre", { tabindex: 0 }, h("code", {}, "npx --no serverless-compute-local key")),
    h(
      "form",
      { id: "sign-in" },
      h("label", {}, "API key ", h("input", { type: "password", name: "key", autocomplete: "off", required: true })),
      h("button", { type: "submit" }, "Sign in"),
    ),
    h("p", { class: "warning", role: "alert", hidden: signInFault === undefined }, signInFault),
    h(
      "p",
      { class: "quiet" },
      "Or open a new link, which works once within an hour: ",
      h("code", {}, "npx --no serverless-compute-local open"),
      ". Add --data <dir> if the service was started with this option.",
    ),
  );

/** Opens a session with the key in the form. */
main.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.id !== "sign-in") return;
  event.preventDefault();
  try {
    await signInWith(String(new FormData(form).get("key")));
    signInFault = undefined;
    connect();
  } catch (error) {
    const isRejected = error instanceof CallError && error.status === 401;
    signInFault = isRejected ? "This is not the service's API key." : "The service does not respond.";
  }
  form.reset();
  requestRender();
});

/** @param {import("./connection.mjs").ConnectionState} state */
function connectionChanged(state) {
  signedOut = state === "signedOut";
  connection.className = `connection ${state}`;
  connection.textContent = { open: "Live", lost: "Reconnecting…", signedOut: "Signed out" }[state];
  if (state === "open") page?.onReconnect();
  requestRender();
}

/** Shows the view of the address and subscribes to its events. Returns true if it is another view. */
function applyRoute() {
  const route = routeOf(location.hash);
  const previousView = currentView;
  currentView = route.view === "endpoint" ? `endpoint ${route.endpoint}` : route.view;
  if (currentView !== previousView) page = undefined;
  if (route.view === "endpoint") {
    const [endpoint, ...duplicates] = endpointsOf(route.endpoint);
    if (!page && endpoint && duplicates.length === 0)
      page = createEndpointPage(endpoint.id, route.endpoint, { notify, requestRender });
    page?.applyRoute(route);
  }
  const currentNav = route.view === "resources" ? "resources" : "endpoints";
  for (const link of document.querySelectorAll("[data-nav]"))
    if (link.getAttribute("data-nav") === currentNav) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  connect();
  requestRender();
  return currentView !== previousView;
}

/** Subscribes to the events of the view. A browser allows six connections per host for all tabs, so a hidden tab has none. */
function connect() {
  stopListening();
  stopListening = () => {};
  if (document.hidden) return;
  const route = routeOf(location.hash);
  const filter = page && route.view === "endpoint" ? `endpoint=${page.endpointId}&${filterQuery(route.filter)}` : "";
  stopListening = listen(filter, { ...listeners, ...page?.listeners }, connectionChanged);
}

/** @type {Record<string, (data: any) => void>} */
const listeners = {
  service(data) {
    problem.textContent = data.problem;
    problem.hidden = data.problem === null;
  },
  endpoints(data) {
    endpoints = data;
    removeOtherInputs(data.map((/** @type {{ id: string }} */ { id }) => id));
    const route = routeOf(location.hash);
    const isDeleted = page !== undefined && !endpoints?.some(({ id }) => id === page?.endpointId);
    if (isDeleted) page = undefined;
    // The endpoint in the address may have been created, or may now be the only one with its name.
    const hasAppeared = !page && route.view === "endpoint" && endpointsOf(route.endpoint).length === 1;
    if (isDeleted || hasAppeared) applyRoute();
    else requestRender();
  },
  resources(data) {
    resources = data;
    requestRender();
  },
};

// The address of a fragment is the route, so the link only moves the focus.
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
main.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (!button) return;
  const action = button.getAttribute("data-action") ?? "";
  const text = button.getAttribute("data-text");
  if (action !== "copy" || text === null) return page?.runAction(action, button.getAttribute("data-subject") ?? "");
  await navigator.clipboard.writeText(text);
  notify("Copied the command.");
});
addEventListener("hashchange", () => {
  // A filter is another address of the same view.
  if (!applyRoute()) return;
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
});
document.addEventListener("visibilitychange", connect);
setInterval(() => {
  if (!document.hidden) requestRender();
}, renderInterval);
applyRoute();
