import { backoffDelayMs } from '@litebus/core'
import { createAssignment, type Assignment } from './assignment.ts'
import { createCommitter } from './committer.ts'
import type { GroupTopic, KafkaDriver, KafkaMembership } from './driver.ts'
import { safeText } from './errors.ts'
import { findStarts } from './find-starts.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import { createPartitionProgress } from './partition-progress.ts'

/** What an assignment is made of. */
export interface AssignPartitionsSetup {
  /** Options of the transport. */
  readonly options: ResolvedKafkaOptions
  /** Kafka. */
  readonly driver: KafkaDriver
  /** Group and topic. */
  readonly request: GroupTopic
  /** The member; known once the group has agreed. */
  readonly joined: Promise<Pick<KafkaMembership, 'commit'>>
}

/**
 * Looks up where the partitions of a new assignment go on.
 *
 * @throws TopologyMismatchError when their logs do not hold that place any more.
 */
export async function assignPartitions(
  { options, driver, request, joined }: AssignPartitionsSetup,
  partitions: readonly number[],
): Promise<Assignment> {
  const starts = await findStarts(driver, { ...request, partitions }, options)
  const progresses = new Map(
    [...starts].map(([partition, start]) => [partition, createPartitionProgress(start)]),
  )
  const committer = createCommitter({
    membership: { commit: async (offsets) => (await joined).commit(offsets) },
    partitions: progresses,
    intervalMs: options.commitIntervalMs,
    count: options.commitCount,
    onFailure: (error) => {
      options.logger.warn('offsets could not be committed; they are tried again', {
        ...request,
        reason: safeText(error, options),
      })
    },
    pauseMs: (failures) => backoffDelayMs(failures, options.reconnect, options.random),
    clock: options.clock,
  })
  return createAssignment(request.topic, progresses, committer)
}
