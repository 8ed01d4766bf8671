const variable = 'LITEBUS_WORKER'

/** What a worker is told, as its environment. */
export function workerEnvironment(settings: object): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], [variable]: JSON.stringify(settings) }
}

/** What this worker was told, of the type that it was told. */
export function workerSettings(): unknown {
  return JSON.parse(process.env[variable] ?? '{}')
}
