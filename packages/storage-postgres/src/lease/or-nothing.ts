/**
 * Waits for a further step of one lease call. What an earlier step has leased must not be lost with the failure of a
 * later one, or it would stay leased and idle until it expires: with `hasLeased` such a failure answers nothing. It is
 * not hidden for long, since every second call begins with the other step.
 */
export async function orNothing<T>(step: Promise<T>, hasLeased: boolean): Promise<T | undefined> {
  try {
    return await step
  } catch (error) {
    if (hasLeased) return undefined
    throw error
  }
}
