import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeServer } from '../artifacts/fake-server.ts';
import { FakeAgentEngine } from './fake-agent-engine.ts';

export const ENGINE = { projectId: 'p1', location: 'us-central1', agentEngineId: '456' } as const;

/**
 * Runs a test over the fake, with credentials for it where Google's libraries look for them. A test file that calls it
 * changes the environment: process.env
 */
export async function withFake(
  check: (fake: FakeAgentEngine, apiEndpoint: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-vertex-'));
  const fake = new FakeAgentEngine();
  const server = await fakeServer(fake.answer);
  const before = { ...process.env };
  try {
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = await writeCredentials(folder, server.url);
    // Otherwise the library asks Google for the project of the credentials.
    process.env['GOOGLE_CLOUD_PROJECT'] = 'p1';
    await check(fake, server.url, folder);
  } finally {
    process.env = before;
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/** Credentials of a workload identity: a token of a file is exchanged at the fake. */
async function writeCredentials(folder: string, url: string): Promise<string> {
  const subject = join(folder, 'subject-token');
  await writeFile(subject, 'subject-token-of-the-fake');
  const file = join(folder, 'credentials.json');
  await writeFile(
    file,
    JSON.stringify({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${url}/v1/token`,
      credential_source: { file: subject },
    }),
  );
  return file;
}
