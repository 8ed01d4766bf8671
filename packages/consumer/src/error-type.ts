/** Code or class of an error, which come from source code, unlike its text. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = error as { readonly code?: unknown }
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : error.constructor.name
}
