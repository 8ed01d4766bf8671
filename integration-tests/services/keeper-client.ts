import type { ServiceAnswer, SpaceAnswer } from './service-keeper.ts'

/** The variable by which test processes find the keeper of their test command. */
export const keeperVariable = 'LITEBUS_SERVICES'

export function findService(id: string): Promise<ServiceAnswer> {
  return ask(`find/${id}`) as Promise<ServiceAnswer>
}

export function openSpace(id: string): Promise<SpaceAnswer> {
  return ask(`open/${id}`) as Promise<SpaceAnswer>
}

export async function closeSpace(name: string): Promise<void> {
  await ask(`close/${name}`)
}

async function ask(path: string): Promise<unknown> {
  const address = process.env[keeperVariable]
  if (address === undefined) {
    throw new Error(
      `expected the address of the service keeper in ${keeperVariable}, found none: ` +
        'run tests by `pnpm unit`, and scripts within `await using keeper = await startKeeper()`',
    )
  }
  const response = await fetch(`${address}/${path}`, { method: 'POST' })
  const body: unknown = await response.json()
  if (response.ok) return body
  throw new Error((body as { readonly error: string }).error)
}
