import type { RunningService, ServiceDefinition, ServiceSource } from './service-definition.ts'

export type ResolvedService =
  | { readonly status: 'available'; readonly source: ServiceSource; readonly service: RunningService }
  | { readonly status: 'missing'; readonly notRun: string }

export interface ResolveOptions {
  readonly environment: NodeJS.ProcessEnv
  /** Whether containers can be started here. */
  readonly hasContainerEngine: () => Promise<boolean>
}

/**
 * Environment, local port, container, own server, in this order. A server that the environment names and that does
 * not answer is an error: whoever names one means it.
 */
export async function resolveService(
  definition: ServiceDefinition,
  { environment, hasContainerEngine }: ResolveOptions,
): Promise<ResolvedService> {
  const named = environment[definition.variable]
  if (named !== undefined && named !== '') {
    await answers(definition, named)
    return { status: 'available', source: 'environment', service: await definition.attach(named) }
  }
  if (mayUseLocal(environment) && (await isListening(definition))) {
    return { status: 'available', source: 'local', service: await definition.attach(definition.localUrl) }
  }
  if (await hasContainerEngine()) {
    return { status: 'available', source: 'docker', service: await definition.startContainer() }
  }
  const own = await definition.startOwn()
  if (own !== undefined) return { status: 'available', source: 'own', service: own }
  return { status: 'missing', notRun: `NOT RUN: ${definition.title}: ${definition.howToGet}` }
}

/** A developer's own server is not touched unless that was asked for; a CI machine is there to be used. */
function mayUseLocal(environment: NodeJS.ProcessEnv): boolean {
  return environment.CI === 'true' || environment.LITEBUS_TEST_LOCAL === '1'
}

async function answers({ title, variable, probe }: ServiceDefinition, url: string): Promise<void> {
  try {
    await probe(url)
  } catch (error) {
    throw new Error(
      `expected ${title} to answer at the address in ${variable}, found: ${String(error)}; correct or unset ${variable}`,
      { cause: error },
    )
  }
}

async function isListening({ probe, localUrl }: ServiceDefinition): Promise<boolean> {
  try {
    await probe(localUrl)
    return true
  } catch {
    return false
  }
}
