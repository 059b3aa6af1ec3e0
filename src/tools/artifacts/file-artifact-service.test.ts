import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { artifactServiceContract } from '../contract/artifact-service-cases.ts';
import { FileArtifactService } from './file-artifact-service.ts';

async function inFolder(check: (rootDir: string) => Promise<void>): Promise<void> {
  const rootDir = await mkdtemp(join(tmpdir(), 'petrichor-artifacts-'));
  try {
    await check(rootDir);
  } finally {
    await rm(rootDir, { recursive: true });
  }
}

for (const { name, check } of artifactServiceContract)
  test(`FileArtifactService: ${name}`, async () =>
    inFolder(async (rootDir) => check(new FileArtifactService({ rootDir }))));

const session = { appName: 'shop', userId: 'ada', sessionId: 's1' } as const;

test('an artifact is a plain file at the documented path', async () =>
  inFolder(async (rootDir) => {
    const service = new FileArtifactService({ rootDir });
    const key = { session, name: 'notes.txt' };
    await service.save(key, { text: 'Hello' }, { saveId: '1' });
    const { canonicalUri = '' } = (await service.describe(key)) ?? {};
    assert.equal(await readFile(fileURLToPath(canonicalUri), 'utf8'), 'Hello');
    assert.deepEqual(await readdir(rootDir), ['shop']);
    const reopened = new FileArtifactService({ rootDir });
    assert.deepEqual(await reopened.load(key), { text: 'Hello' });
  }));

test('files that a killed process left incomplete are neither an artifact nor a version', async () =>
  inFolder(async (rootDir) => {
    const service = new FileArtifactService({ rootDir });
    const folder = join(rootDir, 'shop', 'ada', 'sessions', 's1', 'files', 'a');
    await mkdir(join(folder, '.new-half'), { recursive: true });
    assert.deepEqual(await service.list(session), []);
    const key = { session, name: 'a' };
    assert.deepEqual([await service.versions(key), await service.load(key)], [[], undefined]);
    assert.equal(await service.save(key, { text: 'whole' }, { saveId: '1' }), 0);
  }));
