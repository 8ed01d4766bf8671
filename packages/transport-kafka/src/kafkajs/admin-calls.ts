import type { KafkaJsAdmin } from './client-shape.ts'

/** Calls of an administrator that is opened when first needed, and anew after a call that failed. */
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
  const once = async <T>(use: (admin: KafkaJsAdmin) => Promise<T>): Promise<T> => {
    const used = (current ??= open())
    try {
      return await use(await used)
    } catch (error) {
      discard(used)
      throw error
    }
  }

  return {
    async call(use) {
      const before = current
      try {
        return await once(use)
      } catch (error) {
        if (before === undefined || isAnswer(error)) throw error
        return once(use)
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
  return (error as { readonly type?: unknown } | undefined)?.type !== undefined
}
