/**
 * Names the lane of an ordering key: keys are scoped to their tenant. The length in front keeps apart what
 * concatenation would make one; it also makes every lane sort below `:`, which the walk over lanes relies on.
 */
export function laneIdOf(tenantId: string | undefined, orderingKey: string): string {
  const tenant = tenantId ?? ''
  return `${String(tenant.length)}|${tenant}${orderingKey}`
}
