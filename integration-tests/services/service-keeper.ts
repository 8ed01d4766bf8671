import { randomBytes } from 'node:crypto'
import { resolveService, type ResolvedService, type ResolveOptions } from './resolve-service.ts'
import type { ServiceDefinition, ServiceSource, ServiceSpace } from './service-definition.ts'

export type ServiceAnswer =
  | { readonly status: 'available'; readonly source: ServiceSource; readonly url: string }
  | { readonly status: 'missing'; readonly notRun: string }

export interface SpaceAnswer {
  readonly name: string
  readonly url: string
  readonly prefix: string
}

/** Finds or starts each service once, at the first request, and ends whatever it started or opened. */
export interface ServiceKeeper extends AsyncDisposable {
  find(id: string): Promise<ServiceAnswer>
  openSpace(id: string): Promise<SpaceAnswer>
  closeSpace(name: string): Promise<void>
}

export interface KeeperOptions extends ResolveOptions {
  readonly catalogue: readonly ServiceDefinition[]
  /** Told once per service that is missing. */
  readonly report: (line: string) => void
}

export function createServiceKeeper({ catalogue, report, ...options }: KeeperOptions): ServiceKeeper {
  const resolved = new Map<string, Promise<ResolvedService>>()
  const spaces = new Map<string, ServiceSpace>()
  const resolve = (id: string): Promise<ResolvedService> => {
    const known = resolved.get(id)
    if (known !== undefined) return known
    const definition = catalogue.find((entry) => entry.id === id)
    if (definition === undefined) {
      const ids = catalogue.map((entry) => entry.id).join(', ')
      return Promise.reject(
        new Error(`expected one of the services ${ids}, found "${id}": add it to the catalogue`),
      )
    }
    const started = resolveService(definition, options).then((found) => {
      if (found.status === 'missing') report(found.notRun)
      return found
    })
    resolved.set(id, started)
    return started
  }
  return {
    async find(id) {
      const found = await resolve(id)
      return found.status === 'missing'
        ? found
        : { status: 'available', source: found.source, url: found.service.url }
    },
    async openSpace(id) {
      const found = await resolve(id)
      if (found.status === 'missing') throw new Error(found.notRun)
      const name = `litebus_test_${randomBytes(6).toString('hex')}`
      const space = await found.service.openSpace(name)
      spaces.set(name, space)
      return { name, url: space.url, prefix: space.prefix }
    },
    async closeSpace(name) {
      const space = spaces.get(name)
      spaces.delete(name)
      await space?.[Symbol.asyncDispose]()
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...spaces.values()].map((space) => space[Symbol.asyncDispose]()))
      const settled = await Promise.allSettled(resolved.values())
      await Promise.allSettled(
        settled.flatMap((one) =>
          one.status === 'fulfilled' && one.value.status === 'available'
            ? [one.value.service[Symbol.asyncDispose]()]
            : [],
        ),
      )
    },
  }
}
