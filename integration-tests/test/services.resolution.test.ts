import { describe, expect, test } from '@jest/globals'
import { resolveService } from '../services/resolve-service.ts'
import type { RunningService, ServiceDefinition } from '../services/service-definition.ts'
import { createServiceKeeper } from '../services/service-keeper.ts'

interface World {
  readonly environment?: NodeJS.ProcessEnv
  readonly answering?: readonly string[]
  readonly engine?: boolean
  readonly own?: boolean
}

function inWorld({ environment = {}, answering = [], engine = false, own = false }: World) {
  const ended: string[] = []
  const running = (url: string): RunningService => ({
    url,
    openSpace: (name) =>
      Promise.resolve({
        url: `${url}/${name}`,
        prefix: '',
        [Symbol.asyncDispose]: () => Promise.resolve(void ended.push('space')),
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(void ended.push(url)),
  })
  const definition: ServiceDefinition = {
    id: 'broker',
    title: 'Broker',
    variable: 'BROKER_URL',
    localUrl: 'broker://local',
    howToGet: 'set BROKER_URL',
    probe: (url) => (answering.includes(url) ? Promise.resolve() : Promise.reject(new Error('no answer'))),
    attach: (url) => Promise.resolve(running(url)),
    startContainer: () => Promise.resolve(running('broker://container')),
    startOwn: () => Promise.resolve(own ? running('broker://own') : undefined),
  }
  return { definition, options: { environment, hasContainerEngine: () => Promise.resolve(engine) }, ended }
}

const everything = { answering: ['broker://named', 'broker://local'], engine: true, own: true }

describe('the resolution of a service', () => {
  test.each([
    { found: 'environment', environment: { BROKER_URL: 'broker://named', CI: 'true' }, ...everything },
    { found: 'local', environment: { CI: 'true' }, ...everything },
    { found: 'local', environment: { LITEBUS_TEST_LOCAL: '1' }, ...everything },
    { found: 'docker', environment: {}, ...everything },
    { found: 'docker', environment: { CI: 'true', BROKER_URL: '' }, ...everything, answering: [] },
    { found: 'own', environment: {}, own: true },
  ])('takes the first that there is: $found with $environment', async ({ found, ...world }) => {
    const { definition, options } = inWorld(world)
    expect(await resolveService(definition, options)).toMatchObject({ status: 'available', source: found })
  })

  test('says how to get a service that is nowhere', async () => {
    const { definition, options } = inWorld({})
    expect(await resolveService(definition, options)).toEqual({
      status: 'missing',
      notRun: 'NOT RUN: Broker: set BROKER_URL',
    })
  })

  test('refuses an address in the environment that does not answer, whatever else there is', async () => {
    const { definition, options } = inWorld({ ...everything, environment: { BROKER_URL: 'broker://wrong' } })
    await expect(resolveService(definition, options)).rejects.toThrow('correct or unset BROKER_URL')
  })
})

describe('the keeper of services', () => {
  function keep(world: World) {
    const { definition, options, ended } = inWorld(world)
    const reported: string[] = []
    const keeper = createServiceKeeper({
      catalogue: [definition],
      report: (line) => reported.push(line),
      ...options,
    })
    return { keeper, reported, ended }
  }

  test('starts a service once for all and ends it after the spaces on it', async () => {
    const { keeper, ended } = keep({ own: true })
    expect(await Promise.all([keeper.find('broker'), keeper.find('broker')])).toEqual(
      Array(2).fill({ status: 'available', source: 'own', url: 'broker://own' }),
    )
    const [closed, left] = [await keeper.openSpace('broker'), await keeper.openSpace('broker')]
    expect(closed.url).not.toBe(left.url)
    await keeper.closeSpace(closed.name)
    expect(ended).toEqual(['space'])
    await keeper[Symbol.asyncDispose]()
    expect(ended).toEqual(['space', 'space', 'broker://own'])
  })

  test('reports a missing service once and refuses spaces on it', async () => {
    const { keeper, reported } = keep({})
    await keeper.find('broker')
    await expect(keeper.openSpace('broker')).rejects.toThrow('NOT RUN: Broker')
    expect(reported).toEqual(['NOT RUN: Broker: set BROKER_URL'])
  })

  test('names the services it knows when asked for another', async () => {
    await expect(keep({}).keeper.find('queue')).rejects.toThrow(
      'expected one of the services broker, found "queue"',
    )
  })
})
