/** Drops absent fields, so that the result says only what was given. */
export function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  const result: Partial<T> = {}
  for (const name of Object.keys(fields) as (keyof T)[]) {
    const value = fields[name]
    if (value !== undefined) result[name] = value
  }
  return result as T
}
