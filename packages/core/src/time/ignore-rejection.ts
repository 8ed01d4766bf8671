/** Takes care that a value which may be a promise rejects unhandled nowhere. */
export function ignoreRejection(
  value: unknown,
  onRejected: (error: unknown) => void = () => undefined,
): void {
  if (typeof value !== 'object' || value === null || !('then' in value)) return
  if (typeof value.then === 'function') (value as PromiseLike<unknown>).then(undefined, onRejected)
}
