import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { slugOf } from "../../scripts/docs/pages.mjs";
import { versionMenu } from "../../scripts/docs/versions.mjs";
import { readPublisher } from "../../scripts/publisher.mjs";

const page = (text: string, link: string) => ({ text, link });

const docs = fileURLToPath(new URL("..", import.meta.url));
const { repository } = readPublisher();
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const { version } = JSON.parse(read("provider/package.json"));

/** Target of a page's link on the site; undefined for a file outside docs while no repository is published. */
function addressOf(page: string, href: string): string | undefined {
  if (/^(\w+:|#)/.test(href)) return href;
  const path = posix.join("docs", posix.dirname(posix.relative(docs, page)), href);
  // As `rewrites` names these pages.
  if (path.startsWith("docs/")) return href.replace(/\bREADME\.md\b/, "index.md");
  return repository === null ? undefined : `https://github.com/${repository}/blob/main/${path}`;
}

/** The site of the pages in docs. Dead links fail the build; files of the repository outside docs are linked where they are published. */
export default defineConfig({
  title: "Serverless Compute for Pulumi",
  description: "Infrastructure as code for serverless GPU endpoints, with a local service on one machine",
  cleanUrls: true,
  rewrites: {
    "README.md": "index.md",
    "start/README.md": "start/index.md",
    "guides/README.md": "guides/index.md",
    "resources/README.md": "resources/index.md",
  },
  markdown: {
    // The anchors that code hosts make, so that a link works in both places.
    anchor: { slugify: slugOf },
    config: (md) => {
      // `<name>` in a sentence is a word and no element; the marks of code blocks are comments and stay hidden.
      md.disable("html_inline");
      // On a code host languages after the first are folded.
      md.core.ruler.before("block", "tabs", (state) => {
        state.src = state.src.replace(
          /^<!-- tabs -->$([\s\S]*?)^<!-- \/tabs -->$/gm,
          (_, blocks: string) => `::: code-group\n${blocks.replace(/^<\/?details>.*$/gm, "")}\n:::`,
        );
      });
      md.core.ruler.after("inline", "addresses", ({ tokens, env }) => {
        for (const { children } of tokens) {
          let address: string | undefined;
          for (const token of children ?? []) {
            if (token.type === "link_open") {
              address = addressOf(env.path, token.attrGet("href") ?? "");
              token.attrSet("href", address ?? "");
            }
            // Nothing to link to: its words stay.
            if (token.type.startsWith("link_") && address === undefined) token.type = "text";
          }
        }
      });
      // The name of its column for each cell of a table with three or more columns, which narrow screens show as a list.
      md.core.ruler.after("inline", "columns", ({ tokens }) => {
        let columns: string[] = [];
        let column = 0;
        for (const [index, token] of tokens.entries()) {
          if (token.type === "table_open") columns = [];
          if (token.type === "th_open") columns.push(tokens[index + 1]?.content.replaceAll("`", "") ?? "");
          if (token.type === "tr_open") column = 0;
          if (token.type !== "td_open") continue;
          if (columns.length > 2) token.attrSet("data-column", columns[column] ?? "");
          column += 1;
        }
      });
      // Braces are no expression of Vue, in code and in sentences.
      const textOf = (content = "") => md.utils.escapeHtml(content).replaceAll("{{", "&#123;&#123;");
      md.renderer.rules.text = (tokens, index) => textOf(tokens[index]?.content);
      md.renderer.rules.code_inline = (tokens, index) => `<code>${textOf(tokens[index]?.content)}</code>`;
    },
  },
  themeConfig: {
    siteTitle: "Serverless Compute",
    search: {
      provider: "local",
      options: {
        // Every row of the conformance page would be a result.
        _render: (text, env, md) => (env.relativePath === "conformance.md" ? "" : md.render(text, env)),
        miniSearch: {
          searchOptions: {
            // Reference before guides, pages for maintainers last. The browser runs this function without the names around it.
            boostDocument: (id) => {
              if (/^\/(architecture|testing|releasing|decisions\/)/.test(id)) return 0.2;
              return id.startsWith("/resources/") ? 1.5 : 1;
            },
          },
        },
      },
    },
    nav: [
      page("Start", "/start/"),
      page("Guides", "/guides/"),
      page("Resources", "/resources/"),
      page("Local service", "/service"),
      versionMenu(version, read("CHANGELOG.md"), repository),
    ],
    // A folded group opens on its own pages.
    sidebar: [
      {
        text: "Start",
        items: ["TypeScript", "YAML", "Python", "Go"].map((name) => page(name, `/start/${name.toLowerCase()}`)),
      },
      { text: "Concepts", items: [page("Concepts", "/concepts"), page("GPU types and data centres", "/catalog")] },
      {
        text: "Guides",
        collapsed: true,
        items: [
          page("Smoke tests", "/guides/smoke-tests"),
          page("Roll out safely", "/roll-out-safely"),
          page("Run a Python worker", "/guides/python-worker"),
          page("Call your endpoint", "/guides/call-your-endpoint"),
          page("Local development", "/guides/local-development"),
          page("Pull requests and GitOps", "/guides/pull-requests"),
          page("Costs", "/guides/costs"),
          page("Share one container", "/guides/share-a-container"),
          page("Templates in use", "/guides/templates-in-use"),
          page("Secrets and keys", "/guides/secrets"),
          page("Private images", "/guides/private-images"),
          page("Model cache", "/guides/model-cache"),
          page("Several stages", "/guides/stages"),
          page("Two accounts", "/guides/two-accounts"),
          page("Adopt and import", "/guides/adopt-and-import"),
          page("Blue/green", "/guides/blue-green"),
          page("Integration tests", "/guides/integration-tests"),
          page("Rehearse failures", "/guides/rehearse-failures"),
          page("Run on your cluster", "/guides/run-on-your-cluster"),
          page("Outgrowing one machine", "/guides/outgrow-one-machine"),
          page("Upgrade", "/guides/upgrade"),
          page("Migrate", "/guides/migrate"),
          page("Troubleshooting", "/guides/troubleshooting"),
          page("Security model", "/guides/security"),
        ],
      },
      {
        text: "Resources",
        collapsed: true,
        items: [
          page("Rules for all resources", "/resources/"),
          page("ServerlessEndpoint", "/resources/serverless-endpoint"),
          page("VerifiedEndpoint", "/resources/verified-endpoint"),
          page("Template", "/resources/template"),
          page("JobInvoke", "/resources/job-invoke"),
          page("Secret", "/resources/secret"),
          page("NetworkVolume", "/resources/network-volume"),
          page("ContainerRegistryAuth", "/resources/container-registry-auth"),
          page("Lookups", "/resources/lookups"),
          page("Settings", "/resources/settings"),
        ],
      },
      {
        text: "Local service",
        collapsed: true,
        items: [
          page("Start and use it", "/service"),
          page("The console", "/console"),
          page("Options", "/service-options"),
          page("API", "/service-api"),
          page("Workers", "/service-workers"),
        ],
      },
      {
        text: "Reference",
        collapsed: true,
        items: [
          page("The plugin", "/plugin"),
          page("The command line", "/command-line"),
          page("The hosted service", "/hosted-service"),
          page("Drift, faults and adoption", "/drift-and-faults"),
          page("Clients", "/clients"),
          page("Performance", "/performance"),
        ],
      },
      {
        text: "For maintainers",
        collapsed: true,
        items: [
          page("Architecture", "/architecture"),
          page("Testing", "/testing"),
          page("Releases", "/releasing"),
          page("Conformance", "/conformance"),
        ],
      },
    ],
  },
});
