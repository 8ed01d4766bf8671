import { isLiteBusError, type Outbox } from '@litebus/core'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import fastify, { type FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { orderPlaced, type Order } from '../contracts.ts'
import { placeOrder } from './place-order.ts'

/* Strict, as the other side decodes: what is answered with 201 must be readable there. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The HTTP side of the order service: `POST /orders` with a JSON body that has an `orderId`. */
export function orderApp(parts: {
  readonly pool: Pool
  readonly outbox: Outbox<PostgresTransaction>
}): FastifyInstance {
  const app = fastify({ bodyLimit: 1024 * 1024 })
  // The bytes are needed as they came: parsing and printing them again would change them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  app.post('/orders', async (request, reply) => {
    const order = await parseOrder(request.body)
    if (order === undefined) return reply.code(400).send({ error: 'expected a JSON object with an orderId' })
    try {
      const placement = await placeOrder(order, request.body as Buffer, parts)
      return await reply.code(placement.outcome === 'placed' ? 201 : 200).send(placement)
    } catch (error) {
      if (isLiteBusError(error, 'ARGUMENT_INVALID', 'PAYLOAD_INVALID')) {
        return reply.code(400).send({ error: error.message })
      }
      throw error
    }
  })
  return app
}

async function parseOrder(body: unknown): Promise<Order | undefined> {
  if (!Buffer.isBuffer(body)) return undefined
  try {
    const parsed = await orderPlaced.schema?.['~standard'].validate(JSON.parse(strictUtf8.decode(body)))
    return parsed?.issues === undefined ? parsed?.value : undefined
  } catch {
    return undefined
  }
}
