import type { Telemetry } from '@litebus/core'
import type { Assignment } from './assignment.ts'
import type { GroupTopic } from './driver.ts'

/**
 * Shows how far each assigned partition is behind, in records, control records included: a partition without a value is
 * not assigned here. Returns what ends that.
 */
export function observeLag(
  telemetry: Telemetry,
  { topic, group }: GroupTopic,
  { partitions }: Pick<Assignment, 'partitions'>,
): () => void {
  const unregister = [...partitions].map(([partition, { progress }]) =>
    telemetry.observe(
      { scope: 'LiteBus.Transport', name: 'litebus.consumer.lag' },
      () => Number((partitions.get(partition)?.end ?? progress.position) - progress.committable),
      {
        'messaging.system': 'kafka',
        'messaging.destination.name': topic,
        'messaging.consumer.group.name': group,
        'messaging.destination.partition.id': String(partition),
      },
    ),
  )
  return () => {
    for (const stop of unregister.splice(0)) stop()
  }
}
