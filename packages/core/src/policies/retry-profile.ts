import { optionFaults, type OptionShape } from '../options/read-options.ts'
import type { TransportCapabilities } from '../ports/transport.ts'
import { backoffDelayMs, backoffFaults, type BackoffOptions } from './backoff.ts'
import { failureCategories, type FailureCategory } from './failure.ts'

/** Where a retry happens. `none` never retries; `blocking` is `inline` under the name that other stacks use. */
export type RetryMode =
  'none' | 'inline' | 'blocking' | 'pausePartition' | 'retryDestination' | 'brokerDelayed'

/** How failures of one destination are met. Automatic retry is opt-in. */
export interface RetryProfile {
  /** Where a retry happens. @defaultValue 'none' */
  readonly mode?: RetryMode
  /** Attempts in all, the first delivery included. @defaultValue 1 for mode `none`, 10 otherwise */
  readonly maxAttempts?: number
  /** Whether a retry may overtake or must wait. @defaultValue neither: no path that needs one of them is taken */
  readonly ordering?: 'preserve' | 'allowReorder'
  /** Whether the destination is ordered. @defaultValue false */
  readonly destinationOrdered?: boolean
  /** Categories that are retried although they are not by default. @defaultValue none */
  readonly retryableCategories?: readonly FailureCategory[]
  /** What happens to a failure that is not retryable. @defaultValue 'deadLetter' */
  readonly onPermanent?: 'deadLetter' | 'reject'
  /** Where dead-letter copies go; needed unless the broker parks natively. */
  readonly deadLetterDestination?: string
  /** Where retry copies go, for mode `retryDestination`. */
  readonly retryDestination?: string
  /** Delay between attempts. */
  readonly backoff?: BackoffOptions
}

/** A retry profile with every default filled in. */
export interface ResolvedRetryProfile extends Omit<
  RetryProfile,
  'mode' | 'maxAttempts' | 'destinationOrdered' | 'retryableCategories' | 'onPermanent' | 'backoff'
> {
  /** Where a retry happens. */
  readonly mode: RetryMode
  /** Attempts in all, the first delivery included. */
  readonly maxAttempts: number
  /** Whether the destination is ordered. */
  readonly destinationOrdered: boolean
  /** Categories that are retried although they are not by default. */
  readonly retryableCategories: ReadonlySet<FailureCategory>
  /** What happens to a failure that is not retryable. */
  readonly onPermanent: 'deadLetter' | 'reject'
  /** Delay between attempts. */
  readonly backoff: BackoffOptions
}

const profileShape: OptionShape<RetryProfile> = {
  mode: 'any?',
  maxAttempts: 'any?',
  ordering: 'any?',
  destinationOrdered: 'any?',
  retryableCategories: 'list?',
  onPermanent: 'any?',
  deadLetterDestination: 'text?',
  retryDestination: 'text?',
  backoff: 'object?',
}

/** Fills in the defaults of a profile. */
export function resolveRetryProfile(profile: RetryProfile): ResolvedRetryProfile {
  const mode = profile.mode ?? 'none'
  return Object.freeze({
    ...profile,
    mode,
    maxAttempts: profile.maxAttempts ?? (mode === 'none' ? 1 : 10),
    destinationOrdered: profile.destinationOrdered ?? false,
    retryableCategories: new Set(profile.retryableCategories ?? []),
    onPermanent: profile.onPermanent ?? 'deadLetter',
    backoff: profile.backoff ?? {},
  })
}

type RetryCapabilities = Pick<
  TransportCapabilities,
  'orderedStream' | 'pausable' | 'delayedDelivery' | 'maxDelayMs' | 'nativeDeadLetter'
>

type DelayCapabilities = Pick<TransportCapabilities, 'delayedDelivery' | 'maxDelayMs'>

/**
 * Names every contradiction of a profile, within itself and with the transport. A profile with any is refused at
 * construction, so that a reordering path is never reached by falling through.
 *
 * @param copies - what the place can do that retry copies go to. @defaultValue the capabilities of the source
 */
export function retryProfileFaults(
  profile: RetryProfile,
  capabilities: RetryCapabilities,
  copies: DelayCapabilities = capabilities,
): string[] {
  const misnamed = optionFaults('retry.', profile, { shape: profileShape })
  if (misnamed.length > 0) return misnamed
  const resolved = resolveRetryProfile(profile)
  const { mode, ordering, maxAttempts } = resolved
  const faults = backoffFaults('backoff', resolved.backoff)
  const refuse = (condition: boolean, fault: string): void => {
    if (condition) faults.push(fault)
  }
  refuse(!modes.has(mode), `expected mode to be one of ${[...modes].join(', ')}, found ${mode}`)
  refuse(
    !Number.isSafeInteger(maxAttempts) || maxAttempts < 1,
    `expected maxAttempts to be a positive integer, found ${String(maxAttempts)}`,
  )
  refuse(
    ordering !== undefined && !orderings.has(ordering),
    `expected ordering to be 'preserve' or 'allowReorder', found ${String(ordering)}`,
  )
  refuse(
    !permanents.has(resolved.onPermanent),
    `expected onPermanent to be 'deadLetter' or 'reject', found ${resolved.onPermanent}`,
  )
  for (const category of resolved.retryableCategories) {
    refuse(
      !failureCategories.includes(category),
      `expected retryableCategories of the twelve categories, found ${category}`,
    )
  }
  refuse(
    mode === 'none' && maxAttempts > 1,
    `mode 'none' contradicts maxAttempts ${String(maxAttempts)}: choose a mode that retries, or one attempt`,
  )
  refuse(
    ordering === 'preserve' && !capabilities.orderedStream,
    "ordering 'preserve' contradicts the transport capability orderedStream: false: its order cannot be kept",
  )
  refuse(
    ordering === 'preserve' && !resolved.destinationOrdered,
    "ordering 'preserve' contradicts destinationOrdered: false: there is no order to keep",
  )
  refuse(
    mode === 'pausePartition' && !capabilities.pausable,
    "mode 'pausePartition' contradicts the transport capability pausable: false",
  )
  refuse(
    mode === 'brokerDelayed' && ordering === 'preserve',
    "mode 'brokerDelayed' contradicts ordering 'preserve': a delayed copy is overtaken",
  )
  refuse(
    mode === 'brokerDelayed' && !copies.delayedDelivery,
    `mode 'brokerDelayed' contradicts the transport capability delayedDelivery: false of ${blank(profile.retryDestination) ? 'the source' : `retryDestination ${String(profile.retryDestination)}`}`,
  )
  const longestMs = longestBackoffMs(resolved)
  refuse(
    mode === 'brokerDelayed' && copies.delayedDelivery && longestMs > copies.maxDelayMs,
    `backoff, which grows to ${String(longestMs)} ms within maxAttempts ${String(maxAttempts)}, contradicts the transport capability maxDelayMs ${String(copies.maxDelayMs)}: a copy would come early; lower backoff.maxDelayMs, or give the destination a longer delay`,
  )
  refuse(
    mode === 'retryDestination' && ordering !== 'allowReorder',
    "mode 'retryDestination' contradicts ordering other than 'allowReorder': a retry copy is overtaken",
  )
  refuse(
    mode === 'retryDestination' && blank(profile.retryDestination),
    "mode 'retryDestination' needs retryDestination, found none",
  )
  refuse(
    // Exhausted attempts always park, so every profile can, even one that rejects what is permanent.
    blank(profile.deadLetterDestination) && !capabilities.nativeDeadLetter,
    'expected deadLetterDestination, since the transport capability nativeDeadLetter is false, found none',
  )
  return faults
}

/** The longest delay that attempts of a profile reach, before jitter. */
function longestBackoffMs({ backoff, maxAttempts }: ResolvedRetryProfile): number {
  return maxAttempts < 2 ? 0 : backoffDelayMs(maxAttempts - 1, { ...backoff, jitter: 'none' }, () => 0)
}

const modes: ReadonlySet<string> = new Set<RetryMode>([
  'none',
  'inline',
  'blocking',
  'pausePartition',
  'retryDestination',
  'brokerDelayed',
])
const orderings: ReadonlySet<string> = new Set(['preserve', 'allowReorder'])
const permanents: ReadonlySet<string> = new Set(['deadLetter', 'reject'])

function blank(text: string | undefined): boolean {
  return text === undefined || text === ''
}
