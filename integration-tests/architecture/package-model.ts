export interface ImportModel {
  readonly specifier: string
  /** Whether nothing of it is left at run time. */
  readonly typeOnly: boolean
}

export interface SourceModel {
  /** Relative to the folder of its package, such as `src/index.ts`. */
  readonly path: string
  readonly imports: readonly ImportModel[]
  readonly topLevelAwait: boolean
}

export interface PackageModel {
  readonly name: string
  readonly role: string | undefined
  readonly dependencies: readonly string[]
  readonly optionalDependencies: readonly string[]
  readonly peerDependencies: readonly string[]
  readonly devDependencies: readonly string[]
  /** What is published: `src`. */
  readonly sources: readonly SourceModel[]
  readonly tests: readonly SourceModel[]
}
