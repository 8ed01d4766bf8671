import { defineContract } from '@litebus/core'

/** What a handler of the worker does with a message. */
export interface Job {
  readonly does: 'finish' | 'hang' | 'kill the process'
}

export const job = defineContract<Job>({ name: 'job', version: 1 })

interface WorkerSettings {
  readonly url: string
  readonly schema: string
  readonly name: string
  readonly waits: boolean
  readonly tuning: {
    readonly batchSize: number
    readonly concurrency: number
    readonly leaseMs: number
    readonly heartbeatMs: number
    readonly maxAttempts: number
  }
}

/** Reads what {@link environmentOf} wrote. */
export function workerSettings(environment: NodeJS.ProcessEnv): WorkerSettings {
  return JSON.parse(environment['WORKER'] ?? '{}') as WorkerSettings
}

/** The environment of a worker. */
export function environmentOf(settings: WorkerSettings): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '', WORKER: JSON.stringify(settings) }
}
