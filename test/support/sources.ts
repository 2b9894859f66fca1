import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/** An import of another module. */
export interface Import {
  specifier: string;
  /** True for a type-only import, which is removed by compilation. */
  typeOnly: boolean;
}

/** One source file, read as far as the rules of the architecture need it. */
export interface Source {
  /** From the root of the repository, with slashes. */
  path: string;
  lines: number;
  imports: Import[];
  /** Lines that read the environment of the process. */
  environmentReads: number[];
  /** Lines that hold the type `any`. */
  anyTypes: number[];
  /** Lines that turn one type into any other by way of `unknown`. */
  doubleCasts: number[];
  /** Lines that export a default. */
  defaultExports: number[];
}

const isTypeOnly = (node: ts.ImportDeclaration | ts.ExportDeclaration): boolean => {
  if (ts.isExportDeclaration(node)) {
    const clause = node.exportClause;
    const named = clause && ts.isNamedExports(clause) ? clause.elements : [];
    return node.isTypeOnly || (named.length > 0 && named.every((element) => element.isTypeOnly));
  }
  const clause = node.importClause;
  if (!clause) return false;
  const named = clause.namedBindings && ts.isNamedImports(clause.namedBindings) ? clause.namedBindings.elements : [];
  const typeOnly = clause.phaseModifier === ts.SyntaxKind.TypeKeyword;
  return typeOnly || (!clause.name && named.length > 0 && named.every((element) => element.isTypeOnly));
};

/** The module that a node brings in, if it does. */
function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const from = node.moduleSpecifier;
    return from && ts.isStringLiteral(from) ? { specifier: from.text, typeOnly: isTypeOnly(node) } : undefined;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { specifier: node.argument.literal.text, typeOnly: true };
  }
  if (ts.isExternalModuleReference(node) && ts.isStringLiteral(node.expression)) {
    return { specifier: node.expression.text, typeOnly: false };
  }
  if (ts.isCallExpression(node) && node.arguments.length > 0) {
    const loads =
      node.expression.kind === ts.SyntaxKind.ImportKeyword ||
      /^(require|require\.resolve|createRequire\(.*\))$/.test(node.expression.getText());
    const first = node.arguments[0];
    if (loads && first && ts.isStringLiteralLike(first)) return { specifier: first.text, typeOnly: false };
  }
  return undefined;
}

const readsEnvironment = (node: ts.Node): boolean =>
  (ts.isPropertyAccessExpression(node) && /^(globalThis\.)?process\??\.env$/.test(node.getText())) ||
  (ts.isElementAccessExpression(node) && /^process\[["'`]env["'`]\]$/.test(node.getText())) ||
  (ts.isImportDeclaration(node) && /\{[^}]*\benv\b[^}]*\}\s*from\s*["'](node:)?process["']/.test(node.getText())) ||
  (ts.isVariableDeclaration(node) && /^\{[^}]*\benv\b[^}]*\}\s*=\s*process$/.test(node.getText()));

const isDoubleCast = (node: ts.Node): boolean =>
  ts.isAsExpression(node) &&
  ts.isAsExpression(node.expression) &&
  node.expression.type.kind === ts.SyntaxKind.UnknownKeyword;

const isDefaultExport = (node: ts.Node): boolean =>
  (ts.isExportAssignment(node) && !node.isExportEquals) ||
  (ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) ||
  (ts.isExportSpecifier(node) && node.name.text === "default");

/** Reads one file's text without compiling or running it. */
export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const source: Source = {
    path,
    lines: text.replace(/\n$/, "").split("\n").length,
    imports: [],
    environmentReads: [],
    anyTypes: [],
    doubleCasts: [],
    defaultExports: [],
  };
  const visit = (node: ts.Node): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const found = importOf(node);
    if (found) source.imports.push(found);
    if (readsEnvironment(node)) source.environmentReads.push(line);
    if (node.kind === ts.SyntaxKind.AnyKeyword) source.anyTypes.push(line);
    if (isDoubleCast(node)) source.doubleCasts.push(line);
    if (isDefaultExport(node)) source.defaultExports.push(line);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return source;
}

const folders = ["api", "provider", "service", "examples", "test", "scripts", "bench"];
const notOurs = new Set(["node_modules", "dist", "fixtures", "coverage"]);

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (notOurs.has(entry.name) || entry.name.startsWith(".")) return [];
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
