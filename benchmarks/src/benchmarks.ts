import { amqpIngressSides } from './amqp/ingress-sides.ts'
import { amqpRelaySides } from './amqp/relay-sides.ts'
import { ingressBenchmark, relayBenchmark } from './broker/broker-benchmark.ts'
import type { Benchmark } from './harness/benchmark.ts'
import { kafkaIngressSides } from './kafka/ingress-sides.ts'
import { kafkaRelaySides } from './kafka/relay-sides.ts'
import { enqueueBenchmark } from './store/enqueue-benchmark.ts'
import { memoryBenchmark } from './store/memory-benchmark.ts'
import { peersBenchmark } from './store/peers-benchmark.ts'
import { storeBacklogBenchmark } from './store/store-backlog-benchmark.ts'
import { storeBenchmark } from './store/store-benchmark.ts'
import { storeHeldBenchmark } from './store/store-held-benchmark.ts'
import { storeOrderedBenchmark } from './store/store-ordered-benchmark.ts'
import { wakeBenchmark } from './store/wake-benchmark.ts'

/** Every benchmark by name. */
export const benchmarks: ReadonlyMap<string, Benchmark> = new Map([
  ['store', storeBenchmark],
  ['store-held', storeHeldBenchmark],
  ['store-backlog', storeBacklogBenchmark],
  ['store-ordered', storeOrderedBenchmark],
  ['peers', peersBenchmark],
  ['enqueue', enqueueBenchmark],
  ['wake', wakeBenchmark],
  ['memory', memoryBenchmark],
  ['relay-amqp', relayBenchmark(amqpRelaySides)],
  ['ingress-amqp', ingressBenchmark(amqpIngressSides)],
  ['relay-kafka', relayBenchmark(kafkaRelaySides)],
  ['ingress-kafka', ingressBenchmark(kafkaIngressSides)],
])
