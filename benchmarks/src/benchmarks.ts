import type { Benchmark } from './harness/benchmark.ts'
import { storeBenchmark } from './store/store-benchmark.ts'

/** Every benchmark by name. */
export const benchmarks: ReadonlyMap<string, Benchmark> = new Map([['store', storeBenchmark]])
