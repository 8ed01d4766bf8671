import { ingressAmqpBenchmark, relayAmqpBenchmark } from './amqp/broker-benchmarks.ts'
import type { Benchmark } from './harness/benchmark.ts'
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
  ['relay-amqp', relayAmqpBenchmark],
  ['ingress-amqp', ingressAmqpBenchmark],
])
