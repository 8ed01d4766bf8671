import { closeSpace, findService, openSpace } from './keeper-client.ts'
import type { ServiceSource } from './service-definition.ts'
import type { SpaceAnswer } from './service-keeper.ts'

interface FoundService {
  readonly source: ServiceSource
  /** The server itself. Tests work in a space of their own and leave this one alone. */
  readonly url: string
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
}

export interface PostgresService extends FoundService {
  /** A fresh, empty database in UTF-8; dropped at disposal, or at the latest with the test command. */
  createDatabase(): Promise<TestDatabase>
}

export interface TestVhost extends AsyncDisposable {
  readonly url: string
  /** Begin every queue and exchange name with it: empty in a vhost of one's own, else it keeps tests apart. */
  readonly prefix: string
}

export interface RabbitmqService extends FoundService {
  /** A fresh vhost where the server can be administered, else a prefix of one's own. */
  createVhost(): Promise<TestVhost>
}

export interface TestTopics extends AsyncDisposable {
  readonly url: string
  /** Begin the name of every topic and group with it. */
  readonly prefix: string
}

export interface KafkaService extends FoundService {
  /** A prefix of one's own; topics and groups that begin with it are deleted at disposal. */
  createTopics(): Promise<TestTopics>
}

/** Thrown for a service that this machine has no way to offer; its message is the `NOT RUN` line. */
export class ServiceMissing extends Error {
  override readonly name = 'ServiceMissing'
}

export async function postgres(): Promise<PostgresService> {
  return { ...(await found('postgres')), createDatabase: async () => disposable(await openSpace('postgres')) }
}

export async function rabbitmq(): Promise<RabbitmqService> {
  return { ...(await found('rabbitmq')), createVhost: async () => disposable(await openSpace('rabbitmq')) }
}

export async function kafka(): Promise<KafkaService> {
  return { ...(await found('kafka')), createTopics: async () => disposable(await openSpace('kafka')) }
}

async function found(id: string): Promise<FoundService> {
  const answer = await findService(id)
  if (answer.status === 'missing') throw new ServiceMissing(answer.notRun)
  return { source: answer.source, url: answer.url }
}

function disposable({ name, url, prefix }: SpaceAnswer): TestVhost {
  return { url, prefix, [Symbol.asyncDispose]: () => closeSpace(name) }
}
