import { createRequire } from 'node:module'

/** The package is a JSON file, and its types name no module format. */
const webhooks = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly {
  readonly examples: readonly unknown[]
}[]

/** Webhook bodies as GitHub documents them: 3 to 30 KB of JSON each, some of it beyond ASCII. */
export const webhookBodies: readonly unknown[] = webhooks.flatMap(({ examples }) => examples)
