import type { HostedPart } from './host-options.ts'

/**
 * Milliseconds that the next part may take: its own budget if it has one, otherwise an even share of what is left when
 * the budgets of the others are kept back. So one part that does not end cannot take the time of the others, and what a
 * quick one leaves is theirs.
 */
export function stopShareMs(
  part: HostedPart,
  { leftMs, after }: { readonly leftMs: number; readonly after: readonly HostedPart[] },
): number {
  if (part.stopBudgetMs !== undefined) return Math.min(part.stopBudgetMs, leftMs)
  const stopping = after.filter(({ stop }) => stop !== undefined)
  const kept = stopping.reduce((sum, { stopBudgetMs = 0 }) => sum + stopBudgetMs, 0)
  const sharing = 1 + stopping.filter(({ stopBudgetMs }) => stopBudgetMs === undefined).length
  return Math.max(0, leftMs - kept) / sharing
}
