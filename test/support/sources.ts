import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/** The parts of a source file that the architecture rules check. */
export interface Source {
  /** From the root of the repository, with slashes. */
  path: string;
  /** Specifiers of its imports, types included. */
  imports: string[];
  /** Lines with a cast through `unknown`. */
  doubleCasts: number[];
  /** Lines that search an error's message or compare it with a text. */
  messageTests: number[];
  /** Lines that compare the name of a runtime with a text. */
  runtimeTests: number[];
  /** Names of its error classes. */
  errorClasses: string[];
}

/** The module that a node imports, if any. */
function importOf(node: ts.Node): string | undefined {
  const specifier = specifierNode(node);
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
}

function specifierNode(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node)) return undefined;
  const isLoad =
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    /^(require|require\.resolve|createRequire\(.*\))$/.test(node.expression.getText());
  return isLoad ? node.arguments[0] : undefined;
}

const isDoubleCast = (node: ts.Node): boolean =>
  ts.isAsExpression(node) &&
  ts.isAsExpression(node.expression) &&
  node.expression.type.kind === ts.SyntaxKind.UnknownKeyword;

const searches = new Set(["test", "exec", "match", "search", "includes", "startsWith", "endsWith", "indexOf"]);
const isMessage = (node: ts.Node): boolean => ts.isPropertyAccessExpression(node) && node.name.text === "message";

function isMessageTest(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return /^[!=]==$/.test(node.operatorToken.getText()) && isMessage(node.left);
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  return searches.has(name.text) && [expression, ...node.arguments].some(isMessage);
}

const isRuntime = (node: ts.Node): boolean => /(^|\.)runtime$/.test(node.getText());

function isRuntimeTest(node: ts.Node): boolean {
  if (ts.isSwitchStatement(node)) return isRuntime(node.expression);
  if (!ts.isBinaryExpression(node) || !/^[!=]==$/.test(node.operatorToken.getText())) return false;
  const operands = [node.left, node.right];
  return operands.some(isRuntime) && operands.some(ts.isStringLiteralLike);
}

const isErrorClass = (node: ts.Node): node is ts.ClassDeclaration =>
  ts.isClassDeclaration(node) && /\bextends \w*(Error|Failure)$/.test(node.heritageClauses?.[0]?.getText() ?? "");

/** Reads one file's text without compiling or running it. */
export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const source: Source = { path, imports: [], doubleCasts: [], messageTests: [], runtimeTests: [], errorClasses: [] };
  const lineOf = (node: ts.Node): number => tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const visit = (node: ts.Node): void => {
    const specifier = importOf(node);
    if (specifier !== undefined) source.imports.push(specifier);
    if (isDoubleCast(node)) source.doubleCasts.push(lineOf(node));
    if (isRuntimeTest(node)) source.runtimeTests.push(lineOf(node));
    if (isMessageTest(node)) source.messageTests.push(lineOf(node));
    if (isErrorClass(node) && node.name) source.errorClasses.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return source;
}

const folders = ["api", "provider", "service", "examples", "test", "scripts", "bench"];
const excludedFolders = new Set(["node_modules", "dist", "fixtures", "coverage"]);

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (excludedFolders.has(entry.name) || entry.name.startsWith(".")) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : [];
  });
}

/** Every source file of the repository. */
export function readSources(root: string): Source[] {
  const present = readdirSync(root).filter((name) => folders.includes(name));
  return present
    .flatMap((folder) => filesUnder(join(root, folder)))
    .map((file) => parseSource(relative(root, file).split(sep).join("/"), readFileSync(file, "utf8")));
}
