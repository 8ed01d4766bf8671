/** Numbers of the demonstration: short leases, so that nobody waits a minute for a recovery. */
export const demo: {
  readonly orders: 40
  readonly leaseMs: 2000
  readonly killedAt: 'order-020'
  readonly queue: string
} = Object.freeze({
  orders: 40,
  leaseMs: 2000,
  killedAt: 'order-020',
  queue: `quickstart.${crypto.randomUUID().slice(0, 8)}`,
})
