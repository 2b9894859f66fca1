import { listen } from "./connection.mjs";
import { byId, h, morphChildren } from "./dom.mjs";
import { endpointList } from "./endpoint-list.mjs";
import { createEndpointPage } from "./endpoint-page.mjs";
import { forgetOthers } from "./remembered-input.mjs";
import { resourceLists } from "./resource-lists.mjs";

const main = byId("main");
const connection = byId("connection");
const notice = byId("notice");

/** How long a notice stays, ms. */
const noticeTime = 6000;
/** How often ages and running times are drawn anew, ms. */
const tick = 1000;

/** @type {import("./connection.mjs").Endpoint[] | undefined} */
let endpoints;
/** @type {import("./connection.mjs").Resources | undefined} */
let resources;
/** @type {ReturnType<typeof createEndpointPage> | undefined} */
let page;
let signedOut = false;
/** Ends the listening. */
let leave = () => {};
let drawing = false;

/** @param {string} text */
function notify(text) {
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(Number(notice.dataset["timer"]));
  notice.dataset["timer"] = String(setTimeout(() => (notice.hidden = true), noticeTime));
}

/** Draws the page in the next frame, however much has changed until then. */
function changed() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    morphChildren(main, [view()]);
    document.title = `${main.querySelector("h1")?.textContent ?? "Console"} · Serverless Compute, local`;
  });
}

const shownEndpoint = () => /^#\/endpoints\/([\w-]+)$/.exec(location.hash)?.[1];
const showsResources = () => location.hash === "#/resources";

function view() {
  if (signedOut) return signIn();
  if (page) return page.view(endpoints);
  return showsResources() ? resourceLists(resources) : endpointList(endpoints);
}

const signIn = () =>
  h(
    "section",
    { "data-key": "sign-in", class: "empty" },
    h("h1", {}, "This browser has no session"),
    h("p", {}, "A link works once and for an hour. Print a new one where the service runs, and open it:"),
    h("pre", { tabindex: 0 }, h("code", {}, "npx --no serverless-compute-local open")),
    h("p", { class: "quiet" }, "Add --data <dir> when the service was started with one."),
  );

/** @param {import("./connection.mjs").ConnectionState} state */
function connectionChanged(state) {
  signedOut = state === "signedOut";
  connection.className = `connection ${state}`;
  connection.textContent = { open: "Live", lost: "Reconnecting…", signedOut: "Signed out" }[state];
  if (state === "open") page?.begin();
  changed();
}

/** Shows the page of the current address and subscribes to its events. */
function show() {
  leave();
  const endpointId = shownEndpoint();
  page = endpointId === undefined ? undefined : createEndpointPage(endpointId, { notify, changed });
  const current = showsResources() ? "resources" : "endpoints";
  for (const link of document.querySelectorAll("[data-nav]"))
    if (link.getAttribute("data-nav") === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  leave = document.hidden ? () => {} : listen(endpointId, { ...listeners, ...page?.listeners }, connectionChanged);
  changed();
}

/** @type {Record<string, (data: any) => void>} */
const listeners = {
  endpoints(data) {
    endpoints = data;
    forgetOthers(data.map((/** @type {{ id: string }} */ { id }) => id));
    changed();
  },
  resources(data) {
    resources = data;
    changed();
  },
};

// The address of a fragment is the route, so the link only moves the focus.
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
main.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-action]") : null;
  if (!button) return;
  const subject = button.getAttribute("data-job") ?? button.getAttribute("data-range") ?? "";
  void page?.act(button.getAttribute("data-action") ?? "", subject);
});
addEventListener("hashchange", () => {
  show();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
});
// A browser allows six connections per host in all tabs, so a hidden tab closes its connection.
document.addEventListener("visibilitychange", () => {
  leave();
  if (document.hidden) return;
  leave = listen(shownEndpoint(), { ...listeners, ...page?.listeners }, connectionChanged);
});
setInterval(() => {
  if (!document.hidden) changed();
}, tick);
show();
