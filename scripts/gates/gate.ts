/** One part of `pnpm test`: a command that passes with exit code 0. */
export interface Gate {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Gates without which this one cannot tell anything: it is counted as failed when one of them failed. */
  readonly needs?: readonly string[]
  /** Where the command leaves Jest's results as JSON; then its tests are counted instead of the gate. */
  readonly jestResults?: string
}

export interface GateResult {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  readonly output: string
}
