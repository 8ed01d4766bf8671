import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import type { ImportModel, PackageModel, SourceModel } from './package-model.ts'
import type { ArchitectureRules } from './rules.ts'

/** Breaches in what source files name. */
export function importViolations(
  packages: readonly PackageModel[],
  rules: ArchitectureRules,
): readonly string[] {
  return packages.flatMap((one) => [
    ...one.sources.flatMap((source) => publishedViolations(one, source, rules)),
    ...one.tests.flatMap((source) =>
      source.imports.flatMap((used) => internalsViolations(one, source, used)),
    ),
  ])
}

function publishedViolations(
  one: PackageModel,
  source: SourceModel,
  rules: ArchitectureRules,
): readonly string[] {
  return [
    ...(source.topLevelAwait
      ? [`${one.name}/${source.path}: published modules must not use top-level await`]
      : []),
    ...source.imports.flatMap((used) => [
      ...internalsViolations(one, source, used),
      ...builtinViolations(one, { source, used, rules }),
      ...packageViolations(one, { source, used, rules }),
    ]),
  ]
}

interface UsedImport {
  readonly source: SourceModel
  readonly used: ImportModel
  readonly rules: ArchitectureRules
}

function internalsViolations(
  one: PackageModel,
  source: SourceModel,
  { specifier }: ImportModel,
): readonly string[] {
  const place = `${one.name}/${source.path}`
  if (/^@litebus\/[^/]+\/./.test(specifier)) {
    return [`${place}: "${specifier}" reaches into a package, import its name only`]
  }
  if (!specifier.startsWith('.')) return []
  const target = posix.join('packages/self', posix.dirname(source.path), specifier)
  const leavesPackage = !target.startsWith('packages/self/')
  if (leavesPackage && (source.path.startsWith('src/') || target.startsWith('packages/'))) {
    return [`${place}: "${specifier}" leaves the package, import another package by its name`]
  }
  return target.startsWith('packages/self/dist/')
    ? [`${place}: "${specifier}" names build output, import src`]
    : []
}

function builtinViolations(one: PackageModel, { source, used, rules }: UsedImport): readonly string[] {
  const { specifier } = used
  const place = `${one.name}/${source.path}`
  if (builtinModules.includes(specifier) && !specifier.startsWith('node:')) {
    return [`${place}: write "node:${specifier}" instead of "${specifier}"`]
  }
  const allowed = rules.roles[one.role ?? '']?.builtins ?? []
  if (!specifier.startsWith('node:') || allowed === 'any' || allowed.includes(specifier)) return []
  return [
    `${place}: "${specifier}" must not be imported in role "${String(one.role)}", allowed are: ${allowed.join(', ')}`,
  ]
}

function packageViolations(one: PackageModel, { source, used, rules }: UsedImport): readonly string[] {
  const name = packageName(used.specifier)
  if (name === undefined || builtinModules.includes(name)) return []
  const place = `${one.name}/${source.path}`
  if (![...one.dependencies, ...one.optionalDependencies, ...one.peerDependencies].includes(name)) {
    const found = one.devDependencies.includes(name) ? 'it in devDependencies only' : 'it undeclared'
    return [`${place}: "${used.specifier}" must be a dependency or a peer in package.json, found ${found}`]
  }
  if ((rules.typeOnly[one.name] ?? []).includes(name) && !used.typeOnly) {
    return [`${place}: of "${used.specifier}" only types may be used, write "import type" or "export type"`]
  }
  return []
}

function packageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
