import type { StoredMessage } from '@litebus/core'

/** Where a message goes. */
export interface Route {
  /** Queue, topic or (with a routing key) exchange, as the transport names it. */
  readonly destination: string
  /** Routing key within the destination, for brokers that have one. */
  readonly routingKey?: string
}

/** How routes are found. */
export interface RoutingOptions {
  /** Decides for each message; `undefined` leaves it to topic and contract name. A throw fails the attempt. */
  readonly resolve?: (message: StoredMessage) => Route | undefined
  /** Turns a destination into that of a tenant, for example by a prefix. @defaultValue no difference */
  readonly forTenant?: (route: Route, tenantId: string) => Route
}

/** The route of a message: resolver, else topic, else contract name; then the tenant strategy. */
export function routeOf(message: StoredMessage, { resolve, forTenant }: RoutingOptions): Route {
  const route = resolve?.(message) ?? { destination: message.topic ?? message.contractName }
  return forTenant !== undefined && message.tenantId !== undefined
    ? forTenant(route, message.tenantId)
    : route
}
