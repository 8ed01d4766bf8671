export { createIngress, type Ingress } from './ingress.ts'
export {
  type IngressBacklogOptions,
  type IngressBatchOptions,
  type IngressOptions,
} from './ingress-options.ts'
