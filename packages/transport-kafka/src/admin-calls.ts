/** An administrator of a client. */
interface Administrator {
  /** Connects. */
  connect(): Promise<void>
  /** Disconnects. */
  disconnect(): Promise<void>
}

/** Calls of an administrator that is opened when first needed, and anew after a call that no broker answered. */
export interface AdminCalls<Admin> {
  /** Calls; a connection that died since the last call costs no failure. */
  call<T>(use: (admin: Admin) => Promise<T>): Promise<T>
  /** Closes it. */
  close(): Promise<void>
}

/** What calls are made with. */
export interface AdminCallsSetup<Admin> {
  /** Makes an administrator. */
  readonly make: () => Admin
  /** True where an error is an answer: asking again over another connection would bring the same. */
  readonly isAnswer: (error: unknown) => boolean
}

/** Without a connection yet. */
export function createAdminCalls<Admin extends Administrator>({
  make,
  isAnswer,
}: AdminCallsSetup<Admin>): AdminCalls<Admin> {
  let current: Promise<Admin> | undefined

  const open = async (): Promise<Admin> => {
    const admin = make()
    try {
      await admin.connect()
    } catch (error) {
      void admin.disconnect().catch(() => undefined)
      throw error
    }
    return admin
  }
  const discard = (failed: Promise<Admin>): void => {
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
