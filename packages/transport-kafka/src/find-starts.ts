import { readCommitMetadata } from './commit-metadata.ts'
import type { GroupTopic, KafkaDriver } from './driver.ts'
import { offsetOutOfRange } from './errors.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import type { ProgressStart } from './partition-progress.ts'

/**
 * Where the partitions of an assignment go on: at what the group has committed, else at the first record. Clients skip
 * silently what is not in the log any more; here it is looked at before anything is handed out.
 *
 * @throws TopologyMismatchError when records are gone and the options say `fail`.
 */
export async function findStarts(
  driver: Pick<KafkaDriver, 'committedOffsets' | 'offsetBounds'>,
  request: GroupTopic & { readonly partitions: readonly number[] },
  { onOffsetOutOfRange, logger }: Pick<ResolvedKafkaOptions, 'onOffsetOutOfRange' | 'logger'>,
): Promise<ReadonlyMap<number, ProgressStart>> {
  const [committed, bounds] = await Promise.all([
    driver.committedOffsets(request),
    driver.offsetBounds(request.topic),
  ])
  return new Map(
    request.partitions.map((partition): [number, ProgressStart] => {
      const { first, end } = bounds.get(partition) ?? { first: 0n, end: 0n }
      const found = committed.get(partition)
      if (found === undefined) return [partition, { offset: first, isCommitted: false }]
      if (found.offset >= first && found.offset <= end) {
        const retries = readCommitMetadata(found.metadata)
        return [partition, { offset: found.offset, isCommitted: true, retries }]
      }
      const error = offsetOutOfRange({ ...request, partition, expected: found.offset, first, end })
      if (onOffsetOutOfRange === 'fail') throw error
      logger.error(error.message, { code: error.code, partition })
      return [partition, { offset: first, isCommitted: false }]
    }),
  )
}
