export { createHost, type HealthReport, type Host, type PartReport, type ShutdownReport } from './host.ts'
export { type HostedPart, type HostOptions, type StopBudget } from './host-options.ts'
