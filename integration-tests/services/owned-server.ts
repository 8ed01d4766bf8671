import { eventually } from './eventually.ts'
import type { OwnedHome } from './owned-home.ts'
import type { ServiceNode } from './service-node.ts'

export interface OwnedServerSetup {
  readonly launch: () => ReturnType<OwnedHome['spawn']>
  /** Resolves when it answers. */
  readonly probe: () => Promise<unknown>
  /** What is waited for, as it shall appear after "expected" in an error. */
  readonly expectation: string
  /** Ends it in order, and as a crash would. */
  readonly signals: { readonly stop: NodeJS.Signals; readonly kill: NodeJS.Signals }
}

/** Starts a server that can be stopped, killed and started again, and waits until it answers. */
export async function startOwnedServer({
  launch,
  probe,
  expectation,
  signals,
}: OwnedServerSetup): Promise<Pick<ServiceNode, 'stop' | 'start' | 'restart' | 'kill'>> {
  let server = await launch()
  const untilReady = () =>
    eventually(probe, {
      expectation,
      timeoutMs: 60_000,
      giveUp: async () => (server.running ? undefined : `it ended: ${await server.log()}`),
    })
  await untilReady()
  const stop = () => server.end(signals.stop)
  const start = async (): Promise<void> => {
    await stop()
    server = await launch()
    await untilReady()
  }
  return { stop, start, restart: start, kill: () => server.end(signals.kill) }
}
