import type { AmqpConnection, OpenConnection } from './connection.ts'
import { onScratchChannel } from './scratch-channel.ts'
import { readServerClose } from './server-close.ts'

/** What is known about an exchange; an error when it could not be asked. */
type ExchangeAnswer = 'exists' | 'missing' | { readonly error: unknown }

/**
 * Asks once per connection whether an exchange exists, on a channel of its own: a publish to a missing one would
 * close the publish channel, and make every other publish on it ambiguous.
 */
export interface KnownExchanges {
  /** Answers at once where it is known, else after asking, in the order of the calls. */
  ask(exchange: string, answer: (found: ExchangeAnswer) => void): void
  /** The broker said that it is gone. */
  forget(exchange: string): void
}

/** Knows nothing yet. */
export function createKnownExchanges(connection: AmqpConnection): KnownExchanges {
  let knownOn: OpenConnection | undefined
  const known = new Set<string>()
  const asking = new Map<string, ((found: ExchangeAnswer) => void)[]>()

  const find = async (exchange: string): Promise<ExchangeAnswer> => {
    try {
      const open = await connection.ready()
      const missing = await isMissing(open, exchange)
      if (missing) return 'missing'
      if (knownOn !== open) known.clear()
      knownOn = open
      known.add(exchange)
      return 'exists'
    } catch (error) {
      return { error }
    }
  }

  return {
    ask(exchange, answer) {
      const waiting = asking.get(exchange)
      if (waiting !== undefined) {
        waiting.push(answer)
        return
      }
      // The default exchange always exists.
      if (exchange === '' || (knownOn === connection.current && known.has(exchange))) {
        answer('exists')
        return
      }
      const answers = [answer]
      asking.set(exchange, answers)
      void find(exchange).then((found) => {
        asking.delete(exchange)
        for (const tell of answers) tell(found)
      })
    },
    forget(exchange) {
      known.delete(exchange)
    },
  }
}

async function isMissing({ driver }: OpenConnection, exchange: string): Promise<boolean> {
  try {
    await onScratchChannel(driver, (channel) => channel.checkExchange(exchange))
    return false
  } catch (error) {
    const { code } = readServerClose(error)
    if (code === undefined) throw error
    // Refused for another reason than its absence: the publish itself will tell.
    return code === 404
  }
}
