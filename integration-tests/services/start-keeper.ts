import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { keeperVariable } from './keeper-client.ts'

/**
 * Starts the keeper for this process and its children, and names it in the environment. Services start at their first
 * use. Disposal ends all of them; so does the death of this process.
 */
export async function startKeeper(): Promise<AsyncDisposable> {
  const main = fileURLToPath(new URL('keeper-main.ts', import.meta.url))
  const environment = { ...process.env }
  delete environment.NODE_OPTIONS
  const keeper = spawn(process.execPath, [main], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environment,
  })
  const ended = once(keeper, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(keeper.stdout).once('line', resolve)
    keeper.once('error', reject)
    keeper.once('exit', (code) => {
      reject(
        new Error(`expected the service keeper to start, it ended with ${String(code)}: see the lines above`),
      )
    })
  })
  process.env[keeperVariable] = address
  return {
    async [Symbol.asyncDispose]() {
      Reflect.deleteProperty(process.env, keeperVariable)
      keeper.stdin.end()
      await ended
    },
  }
}
