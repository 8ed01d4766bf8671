import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServiceKeeper } from './service-keeper.ts'

export interface KeeperServer extends AsyncDisposable {
  readonly address: string
}

/** Offers a keeper to other processes of this machine: one POST each, answered with JSON, errors with status 500. */
export async function serveKeeper(keeper: ServiceKeeper): Promise<KeeperServer> {
  const server = createServer((request, response) => {
    // A connection kept for the next question may be closed here at the moment in which it is asked.
    response.shouldKeepAlive = false
    answer(keeper, request).then(
      (body) => response.writeHead(200).end(JSON.stringify(body ?? null)),
      (error: unknown) => response.writeHead(500).end(JSON.stringify({ error: describe(error) })),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(keeper: ServiceKeeper, request: IncomingMessage): Promise<unknown> {
  const [, action, subject = ''] = (request.url ?? '').split('/')
  switch (action) {
    case 'find':
      return keeper.find(subject)
    case 'open':
      return keeper.openSpace(subject)
    case 'close':
      return keeper.closeSpace(subject)
    default:
      throw new Error(
        `expected /find/<service>, /open/<service> or /close/<space>, found ${String(request.url)}`,
      )
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
