import { h } from "./dom.mjs";

/** @typedef {import("./connection.mjs").Resources} Resources */

/**
 * One kind of resources as a table; `empty` describes how to create the first one.
 * @param {string} title
 * @param {string[]} head
 * @param {{ id: string, cells: (string | number)[] }[]} rows
 * @param {string} empty
 */
const resourceTable = (title, head, rows, empty) =>
  h(
    "section",
    { class: "panel", "data-key": title },
    h("h2", {}, title, " ", h("span", { class: "number" }, rows.length)),
    rows.length === 0
      ? h("p", { class: "quiet" }, empty)
      : h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
          h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                [...head, "Id"].map((text) => h("th", { scope: "col" }, text)),
              ),
            ),
            h(
              "tbody",
              {},
              rows.map(({ id, cells }) =>
                h(
                  "tr",
                  { "data-key": id },
                  cells.map((cell) => h("td", {}, cell)),
                  h("td", {}, h("code", {}, id)),
                ),
              ),
            ),
          ),
        ),
  );

/**
 * Templates, volumes, secrets and registry credentials: names, never values.
 * @param {Resources | undefined} resources
 */
export function resourceLists(resources) {
  if (!resources) return h("section", { "data-key": "loading" }, h("p", { class: "quiet" }, "Loading…"));
  const { templates, volumes, secrets, registryAuths } = resources;
  return h(
    "section",
    { "data-key": "resources", class: "stack" },
    h("h1", {}, "Resources"),
    resourceTable(
      "Templates",
      ["Name", "Image", "Disk", "Variables"],
      templates.map(({ id, name, imageName, containerDiskInGb, variables }) => ({
        id,
        cells: [name, imageName, `${containerDiskInGb} GB`, variables.join(", ") || "–"],
      })),
      "None yet: new Template(…) in your program creates one.",
    ),
    resourceTable(
      "Network volumes",
      ["Name", "Size", "Data centre"],
      volumes.map(({ id, name, size, dataCenterId }) => ({ id, cells: [name, `${size} GB`, dataCenterId] })),
      "None yet: new NetworkVolume(…) creates one, and networkVolumeId of an endpoint mounts it.",
    ),
    resourceTable(
      "Secrets",
      ["Name"],
      secrets.map(({ id, name }) => ({ id, cells: [name] })),
      "None yet: new Secret(…) creates one, and a template references it in its env. Values are never shown here.",
    ),
    resourceTable(
      "Registry credentials",
      ["Name"],
      registryAuths.map(({ id, name }) => ({ id, cells: [name] })),
      "None yet: new ContainerRegistryAuth(…) stores credentials for private images.",
    ),
  );
}
