/**
 * Code or class of anything thrown, for logs: both come from source code, unlike the text of an error, which may carry
 * a secret. Total: no value makes it throw.
 */
export function errorType(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error
    const { code, name } = error as { readonly code?: unknown } & Error
    // That of the prototype: an error may have a field of this name.
    const { constructor } = Object.getPrototypeOf(error) as object
    if (typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)) return code
    // Names of these are fixed by the platform, and say more than the one class that they share.
    return constructor.name === 'DOMException' ? name : constructor.name
  } catch {
    return 'unknown'
  }
}
