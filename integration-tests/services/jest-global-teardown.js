export default async function endServices() {
  await globalThis.litebusKeeper?.[Symbol.asyncDispose]()
}
