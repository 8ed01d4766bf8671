export { breakerDefaults, type CircuitBreakerOptions } from './breaker-options.ts'
export { createOutbox, type OutboxOptions } from './outbox.ts'
export { createOutboxProcessor, type OutboxProcessorOptions } from './outbox-processor.ts'
export { type Route, type RoutingOptions } from './route.ts'
