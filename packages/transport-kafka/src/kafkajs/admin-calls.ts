import type { KafkaJsAdmin } from './client-shape.ts'
import { protocolErrorOf } from './kafkajs-errors.ts'

/** Calls of an administrator that is opened when first needed, and anew after a call that no broker answered. */
export interface AdminCalls {
  /** Calls; a connection that died since the last call costs no failure. */
  call<T>(use: (admin: KafkaJsAdmin) => Promise<T>): Promise<T>
  /** Closes it. */
  close(): Promise<void>
}

/** Without a connection yet. */
export function createAdminCalls(make: () => KafkaJsAdmin): AdminCalls {
  let current: Promise<KafkaJsAdmin> | undefined

  const open = async (): Promise<KafkaJsAdmin> => {
    const admin = make()
    try {
      await admin.connect()
    } catch (error) {
      void admin.disconnect().catch(() => undefined)
      throw error
    }
    return admin
  }
  const discard = (failed: Promise<KafkaJsAdmin>): void => {
    if (current === failed) current = undefined
    void failed.then((admin) => admin.disconnect()).catch(() => undefined)
  }

  return {
    async call(use) {
      const isOld = current !== undefined
      for (let isRepeated = false; ; isRepeated = true) {
        const used = (current ??= open())
        try {
          return await use(await used)
        } catch (error) {
          // An answer leaves the connection as good as it was, and other calls may be waiting on it.
          if (isAnswer(error)) throw error
          const wasTaken = current !== used
          discard(used)
          if (isRepeated || !(isOld || wasTaken)) throw error
        }
      }
    },
    async close() {
      const last = current
      current = undefined
      const admin = await last?.catch(() => undefined)
      await admin?.disconnect()
    },
  }
}

/** The broker answered, so that asking again over another connection brings the same. */
function isAnswer(error: unknown): boolean {
  return protocolErrorOf(error) !== undefined
}
