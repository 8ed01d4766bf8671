import ts from 'typescript'
import type { ImportModel, SourceModel } from './package-model.ts'

/** Every way by which a module names another: import, export from, import(), require(), import types, import =. */
export function readSource(path: string, text: string): SourceModel {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS)
  const imports: ImportModel[] = []
  let topLevelAwait = false
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier))
      imports.push({ specifier: specifier.text, typeOnly })
  }
  const visit = (node: ts.Node, inFunction: boolean): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyImport(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyExport(node))
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
    else if (ts.isExternalModuleReference(node)) add(node.expression, false)
    else if (ts.isModuleDeclaration(node)) add(node.name, true)
    else if (ts.isCallExpression(node) && isModuleCall(node)) add(node.arguments[0], false)
    if (!inFunction && isAwait(node)) topLevelAwait = true
    ts.forEachChild(node, (child) => {
      visit(child, inFunction || ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node))
    })
  }
  visit(file, false)
  return { path, imports, topLevelAwait }
}

/* `import { type A }` without `type` before the braces still loads the module under verbatimModuleSyntax. */
function isTypeOnlyImport(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

function isTypeOnlyExport(declaration: ts.ExportDeclaration): boolean {
  return declaration.isTypeOnly
}

function isModuleCall({ expression }: ts.CallExpression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true
  if (ts.isIdentifier(expression)) return expression.text === 'require'
  return ts.isPropertyAccessExpression(expression) && expression.getText() === 'require.resolve'
}

function isAwait(node: ts.Node): boolean {
  if (ts.isAwaitExpression(node)) return true
  if (ts.isForOfStatement(node)) return node.awaitModifier !== undefined
  /* The flag is made of two bits, `const` and `using`, so that all of them have to be set. */
  const awaitUsing: number = ts.NodeFlags.AwaitUsing
  return ts.isVariableDeclarationList(node) && (node.flags & awaitUsing) === awaitUsing
}
