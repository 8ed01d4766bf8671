import type { PackageModel } from './package-model.ts'
import type { ArchitectureRules } from './rules.ts'

/** Breaches in what package.json files declare, over everything that comes along with a package. */
export function dependencyViolations(
  packages: readonly PackageModel[],
  rules: ArchitectureRules,
): readonly string[] {
  const byName = new Map(packages.map((one) => [one.name, one]))
  return [
    ...packages.flatMap((one) => [
      ...closureOf(one, byName).flatMap((path) => edgeViolations(path, byName, rules)),
      ...thirdPartyViolations(one, rules),
    ]),
    ...circuitBreakerViolations(packages, rules),
  ]
}

function runtimeDependencies(one: PackageModel): readonly string[] {
  return [...one.dependencies, ...one.optionalDependencies, ...one.peerDependencies]
}

/** Every package that comes along, each as the path by which it does. */
function closureOf(
  start: PackageModel,
  byName: ReadonlyMap<string, PackageModel>,
): readonly (readonly string[])[] {
  const seen = new Set([start.name])
  const paths: (readonly string[])[] = []
  const walk = (path: readonly string[], one: PackageModel): void => {
    for (const name of runtimeDependencies(one)) {
      const next = byName.get(name)
      if (next === undefined || seen.has(name)) continue
      seen.add(name)
      paths.push([...path, name])
      walk([...path, name], next)
    }
  }
  walk([start.name], start)
  return paths
}

/** From the first package of the path to its last one, which is allowed if a path of allowed roles leads there. */
function edgeViolations(
  path: readonly string[],
  byName: ReadonlyMap<string, PackageModel>,
  { roles }: ArchitectureRules,
): readonly string[] {
  const roleOf = (name: string | undefined): string => byName.get(name ?? '')?.role ?? 'no role'
  const [from, to] = [roleOf(path[0]), roleOf(path.at(-1))]
  const allowed = path.length === 2 ? (roles[from]?.mayDependOn ?? []) : reachableRoles(from, roles)
  if (allowed.includes(to)) return []
  return [
    `${path.join(' → ')}: a package of role "${from}" must not depend on one of role "${to}", ` +
      `allowed are: ${allowed.join(', ') || 'none'}`,
  ]
}

function reachableRoles(from: string, roles: ArchitectureRules['roles']): readonly string[] {
  const reached = new Set<string>()
  const walk = (role: string): void => {
    for (const next of roles[role]?.mayDependOn ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      walk(next)
    }
  }
  walk(from)
  return [...reached]
}

function thirdPartyViolations(one: PackageModel, rules: ArchitectureRules): readonly string[] {
  const peers = rules.sdkPeers[one.name] ?? []
  const breakers = rules.circuitBreakerUsers.test(one.name) ? rules.circuitBreakers : []
  const carried = [...(rules.typeOnly[one.name] ?? []), ...breakers]
  const own = (name: string): boolean => name.startsWith('@litebus/')
  const undeclaredPeer = one.peerDependencies.filter((name) => !own(name) && !peers.includes(name))
  const carriedSdk = [...one.dependencies, ...one.optionalDependencies].filter(
    (name) => !own(name) && !carried.includes(name),
  )
  return [
    ...undeclaredPeer.map(
      (name) =>
        `${one.name}: ${name} must not be a peer dependency, allowed are: ${peers.join(', ') || 'none'}`,
    ),
    ...carriedSdk.map((name) =>
      peers.includes(name)
        ? `${one.name}: ${name} must be a peer dependency, found it in dependencies`
        : `${one.name}: ${name} must not be a dependency, allowed are: ${carried.join(', ') || 'none'}`,
    ),
    ...one.peerDependencies
      .filter(own)
      .map((name) => `${one.name}: ${name} must be a dependency with workspace:^, found it as a peer`),
  ]
}

function circuitBreakerViolations(
  packages: readonly PackageModel[],
  { circuitBreakers }: ArchitectureRules,
): readonly string[] {
  const used = new Set(
    packages.flatMap((one) => runtimeDependencies(one)).filter((name) => circuitBreakers.includes(name)),
  )
  return used.size > 1
    ? [`expected one circuit-breaker library in all packages, found ${[...used].join(' and ')}`]
    : []
}
