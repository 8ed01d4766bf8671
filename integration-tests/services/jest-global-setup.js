/* Jest requires default exports here, and this file in JavaScript, because it is loaded before any transform. */
import { startKeeper } from './start-keeper.ts'

export default async function keepServices() {
  globalThis.litebusKeeper = await startKeeper()
}
