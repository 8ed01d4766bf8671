import type { Logger } from '@litebus/core'
import type { Host, HostedPart } from '@litebus/host'
import type { FastifyInstance } from 'fastify'

/** Adds `/health/live` (the process answers) and `/health/ready` (every part can do its work). */
export function addHealth(app: FastifyInstance, host: () => Host): void {
  app.get('/health/live', () => ({ status: 'up' }))
  app.get('/health/ready', async (_request, reply) => {
    const report = await host().health()
    return reply.code(report.status === 'up' ? 200 : 503).send(report)
  })
}

/** The HTTP server as a part of the host. It listens on the loopback interface. */
export function httpPart(app: FastifyInstance, port: number, logger: Logger): HostedPart {
  return {
    name: 'http',
    start: async () => {
      logger.info('listening', { url: await app.listen({ host: '127.0.0.1', port }) })
    },
    // Requests that are being answered may end; a client that is slow or silent must not keep the process.
    stop: async ({ graceMs }) => {
      const grace = setTimeout(() => {
        app.server.closeAllConnections()
      }, graceMs)
      try {
        await app.close()
      } finally {
        clearTimeout(grace)
      }
    },
  }
}
