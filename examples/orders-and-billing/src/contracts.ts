import { defineContract, type MessageContract } from '@litebus/core'
import { z } from 'zod'

const order = z.looseObject({ orderId: z.string().min(1).max(100) })

/** An order as it travels: its id, and whatever the client sent with it. */
export type Order = z.infer<typeof order>

/** An order was placed. Owned by the order service, known to the billing service. */
export const orderPlaced: MessageContract<Order> = defineContract({
  name: 'order-placed',
  version: 1,
  schema: order,
})
