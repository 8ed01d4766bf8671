import { dependencyViolations } from './dependency-violations.ts'
import { importViolations } from './import-violations.ts'
import type { PackageModel } from './package-model.ts'
import type { ArchitectureRules } from './rules.ts'

/** Every breach of the rules, each as one sentence with the package, what was found and what to do. */
export function findViolations(
  packages: readonly PackageModel[],
  rules: ArchitectureRules,
): readonly string[] {
  return [
    ...roleViolations(packages, rules),
    ...dependencyViolations(packages, rules),
    ...importViolations(packages, rules),
  ]
}

function roleViolations(packages: readonly PackageModel[], { roles }: ArchitectureRules): readonly string[] {
  return packages.flatMap(({ name, role }) => {
    if (role !== undefined && Object.hasOwn(roles, role)) return []
    const known = Object.keys(roles).join(', ')
    const found = role === undefined ? 'none' : `"${role}"`
    return [`${name}: expected "litebus.role" in package.json to be one of ${known}, found ${found}`]
  })
}
