/* In JavaScript and alone, because the Node that it refuses cannot read TypeScript. */
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  console.error(
    `expected Node 24 or later from node_modules/.bin, found ${process.version}: ` +
      'the install before this script failed, run `npx --yes pnpm@12 install` and read what it prints',
  )
  process.exit(1)
}
