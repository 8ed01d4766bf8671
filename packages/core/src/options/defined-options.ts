/** The fields that were given, without those given as `undefined`. */
export function definedOptions<T extends object>(given: { [K in keyof T]: T[K] | undefined }): T {
  const result: Partial<T> = {}
  for (const name of Object.keys(given) as (keyof T)[]) {
    const value = given[name]
    if (value !== undefined) result[name] = value
  }
  return result as T
}
