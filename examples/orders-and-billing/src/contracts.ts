import { defineContract, type MessageContract } from '@litebus/core'
import { z } from 'zod'

/* PostgreSQL cannot store NUL in text, and half of a surrogate pair has no bytes: neither may get past the door. */
const orderId = z
  .string()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}+$/u, 'expected no control characters')
  .refine((value) => value.isWellFormed(), 'expected well-formed Unicode')

const order = z.looseObject({ orderId })

/** An order as it travels: its id, and whatever the client sent with it. */
export type Order = z.infer<typeof order>

/** An order was placed. Owned by the order service, known to the billing service. */
export const orderPlaced: MessageContract<Order> = defineContract({
  name: 'order-placed',
  version: 1,
  schema: order,
})
