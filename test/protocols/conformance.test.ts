import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import knownFailures from './known-failures.json' with { type: 'json' };

const SUITE = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const CLIENT = fileURLToPath(new URL('mcp-client.ts', import.meta.url));
/** The protocol versions. Each scenario runs with all versions that it supports. */
const VERSIONS = ['2025-03-26', '2025-11-25', '2026-07-28'];

/** How long a client may take for one scenario. A busy machine takes many times longer than an idle one. */
const TIMEOUT_MS = 600_000;

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
}

async function run(args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { timeout: 2 * TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [SUITE, ...args], options, (error, stdout, stderr) => {
      resolve({ passed: error === null, output: stdout + stderr });
    });
  });
}

interface Case {
  readonly scenario: string;
  readonly version: string | undefined;
}

const { output: list } = await run(['list', '--client']);
const cases = [...list.matchAll(/^\s+- (\S+) \[(.*)\]$/gm)].flatMap(
  ([, scenario = '', supported = '']): readonly Case[] => {
    const versions = supported.split(',').filter((version) => VERSIONS.includes(version));
    return versions.length === 0
      ? [{ scenario, version: undefined }]
      : versions.map((version) => ({ scenario, version }));
  },
);

const reasons: Readonly<Record<string, string>> = knownFailures;
const formatName = ({ scenario, version = 'extension' }: Case): string => `${scenario} ${version}`;

describe('the client scenarios of the public MCP conformance suite', { concurrency: 2 }, () => {
  let results: string;
  before(async () => (results = await mkdtemp(join(tmpdir(), 'petrichor-conformance-'))));
  after(async () => rm(results, { recursive: true, force: true }));

  it('every known failure is a scenario of the suite and has a reason', () => {
    assert.ok(cases.length >= 60, `the suite lists ${cases.length} cases:\n${list}`);
    const names = cases.map(formatName);
    for (const [name, reason] of Object.entries(reasons)) {
      assert.ok(names.includes(name), `known-failures.json lists "${name}", which is no case`);
      assert.ok(reason.length > 20, `known-failures.json gives no reason for "${name}"`);
    }
  });

  for (const testCase of cases) {
    const name = formatName(testCase);
    const reason = reasons[name];
    it(reason === undefined ? name : `${name} fails: ${reason}`, async () => {
      const { passed, output } = await run([
        'client',
        '--command',
        `"${process.execPath}" "${CLIENT}"`,
        '--timeout',
        String(TIMEOUT_MS),
        '--scenario',
        testCase.scenario,
        ...(testCase.version === undefined ? [] : ['--spec-version', testCase.version]),
        '--output-dir',
        results,
      ]);
      if (reason === undefined) assert.ok(passed, output);
      else assert.ok(!passed, `${name} passes now: remove it from known-failures.json`);
    });
  }
});
