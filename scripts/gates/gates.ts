import { join } from 'node:path'
import type { Gate } from './gate.ts'

const typescript7 = 'integration-tests/node_modules/typescript-7/bin/tsc'

/** All gates of `pnpm test`, in order. `results` is a folder for files that pass between a gate and the runner. */
export function allGates(results: string): readonly Gate[] {
  return [
    { name: 'build', command: 'tsc', args: ['-b'] },
    {
      name: 'build with TypeScript 7',
      command: 'node',
      args: [typescript7, '-p', 'integration-tests/typescript-7'],
    },
    { name: 'typecheck:tests', command: 'tsc', args: ['-p', 'tsconfig.test.json'] },
    { name: 'lint', command: 'eslint', args: ['.', '--max-warnings', '0'], needs: ['build'] },
    { name: 'format:check', command: 'prettier', args: ['--check', '.'] },
    { name: 'boundaries', command: 'depcruise', args: ['packages', '--config', '.dependency-cruiser.cjs'] },
    { name: 'deadcode', command: 'knip', args: [] },
    turbo('api'),
    turbo('lint:package'),
    jest(results),
  ]
}

function turbo(task: string): Gate {
  return {
    name: task,
    command: 'turbo',
    args: ['run', task, '--continue', '--output-logs=errors-only'],
    environment: { TURBO_TELEMETRY_DISABLED: '1' },
    needs: ['build'],
  }
}

/** The tests run on sources, packaging excepted; without a build they still tell a lot. */
function jest(results: string): Gate {
  const jestResults = join(results, 'jest.json')
  return {
    name: 'jest',
    command: 'jest',
    args: ['--json', `--outputFile=${jestResults}`],
    environment: { NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' },
    jestResults,
  }
}
