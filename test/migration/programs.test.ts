import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type Database, startDatabase } from './database.ts';

const root = join(import.meta.dirname, '..', '..');

/** The programs of each page: theirs and ours. */
const pairs: Readonly<Record<string, readonly [theirs: string, ours: string]>> = {
  LangGraph: ['test/migration/langgraph.ts', 'examples/migrate-agent.ts'],
  'AI SDK': ['test/migration/ai-sdk.ts', 'examples/migrate-agent.ts'],
  'OpenAI Agents SDK': ['test/migration/openai-agents.ts', 'examples/migrate-agent.ts'],
  ADK: ['test/migration/adk.ts', 'examples/migrate-adk.ts'],
};

/** The first run ends with a call that waits; the second run approves it. `find_order` runs in the first only. */
const expected = [
  ['find_order A-7', 'waits: refund {"order":"A-7","cents":4200}'],
  ['refund A-7 4200', 'text: I', 'text:  refunded', 'text:  42.00', 'text:  for', 'text:  A-7.'],
];

describe('the two programs of a migration page print the same, run by run', () => {
  let database: Database;

  before(async () => {
    database = await startDatabase();
  });
  after(async () => {
    await database.stop();
  });

  /** What two processes print, one after the other, in one folder. */
  async function runTwice(program: string): Promise<readonly (readonly string[])[]> {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-migration-'));
    const env = { ...process.env, DATABASE_URL: database.url };
    try {
      const runs: string[][] = [];
      for (let n = 0; n < 2; n++) {
        const options = { cwd: folder, env, timeout: 600_000 };
        const { stdout } = await promisify(execFile)(
          process.execPath,
          [join(root, program)],
          options,
        );
        runs.push(stdout.trimEnd().split('\n'));
      }
      return runs;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  for (const [name, [theirs, ours]] of Object.entries(pairs))
    it(name, async () => {
      assert.deepEqual(await runTwice(theirs), expected);
      assert.deepEqual(await runTwice(ours), expected);
    });
});
