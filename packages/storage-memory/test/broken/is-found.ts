import type { BoundCase } from '@litebus/conformance'

/** A case that neither passes nor fails in time waits for something that never comes, which is a failure too. */
export async function isFound(entry: BoundCase): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, 4000, true)
  })
  const passed = entry.run().then(
    () => false,
    () => true,
  )
  const found = await Promise.race([passed, late])
  clearTimeout(timer)
  return found
}
