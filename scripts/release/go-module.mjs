import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { lastLines, run } from "../child.mjs";
import { isMain, root, runScript } from "../entry.mjs";

/** Folder of the Go SDK at its tags: the module's path and tags begin with it. */
const worktree = "sdk/go/serverlesscompute";

/**
 * Commits the generated Go SDK on top of a release's commit and tags it by Go's convention. No branch contains the
 * commit, because main has no generated SDK. Pushing the tag publishes the module.
 * @param {string} sdk Folder of the generated SDK.
 * @param {string} tag Tag of the release, `v<version>`.
 * @param {string} [repository]
 * @returns {Promise<string>} Tag of the module.
 */
export async function tagGoModule(sdk, tag, repository = root) {
  const temporaryFolder = await mkdtemp(join(tmpdir(), "go-module-"));
  const tree = join(temporaryFolder, "tree");
  /** @param {string} cwd @param {...string} args */
  const git = async (cwd, ...args) => {
    const finished = await run("git", args, { cwd });
    if (finished.code !== 0) throw new Error(`git ${args[0]} failed: ${lastLines(finished)}`);
  };
  const moduleTag = `${worktree}/${tag}`;
  await git(repository, "worktree", "add", "--quiet", "--detach", tree, tag);
  try {
    await cp(sdk, join(tree, worktree), { recursive: true });
    await git(tree, "add", "--force", worktree);
    await git(tree, "commit", "--quiet", "--no-verify", "-m", `Add the generated Go SDK of ${tag}`);
    await git(tree, "tag", moduleTag);
  } finally {
    await git(repository, "worktree", "remove", "--force", tree);
    await rm(temporaryFolder, { recursive: true, force: true });
  }
  return moduleTag;
}

const usage = "Usage: node scripts/release/go-module.mjs <folder of the Go SDK> --tag v<version>";

if (isMain(import.meta.url)) {
  await runScript(async () => {
    const { values, positionals } = parseArgs({ options: { tag: { type: "string" } }, allowPositionals: true });
    const [sdk] = positionals;
    if (sdk === undefined || values.tag === undefined) throw new Error(usage);
    console.log(await tagGoModule(resolve(sdk), values.tag));
    return 0;
  }, usage);
}
