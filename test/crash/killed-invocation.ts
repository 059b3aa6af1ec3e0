import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runner } from '../../src/adk/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { Event } from '../../src/core/index.ts';
import { openRunner } from './runner-host.ts';

/** The lines of a file that the tools or the model of the app wrote. */
export const readLines = (folder: string, file: string): readonly string[] =>
  readFileSync(join(folder, file), 'utf8').trim().split('\n');

/** The texts of messages. */
export const listTexts = (events: readonly Event[]): readonly string[] =>
  events
    .flatMap(({ content }) => (content === undefined ? [] : contentText(content)))
    .filter(Boolean);

/** Kills the process in its second tool, and returns the id of the interrupted invocation. */
async function runAndKill(folder: string, ...more: readonly string[]): Promise<string> {
  const host = new URL('runner-host.ts', import.meta.url);
  const child = fork(host, [folder, ...more], { stdio: 'inherit' });
  const secondToolStarted = Promise.withResolvers<void>();
  // The call of the second tool is committed before the tool starts, but its message may arrive later.
  const invocation = Promise.withResolvers<string>();
  child.on('message', (message) => {
    if (message === 'in second') secondToolStarted.resolve();
    else if (typeof message === 'object' && 'invocationId' in message)
      invocation.resolve(String(message.invocationId));
  });
  await secondToolStarted.promise;
  const invocationId = await invocation.promise;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return invocationId;
}

/** Runs the check with an invocation whose process was killed in its second tool, in a database or a SQLite file. */
export async function withKilledInvocation(
  check: (context: {
    readonly folder: string;
    readonly invocationId: string;
    readonly open: (isResumable?: boolean) => Runner;
  }) => Promise<void>,
  { url, schema }: { readonly url?: string; readonly schema?: string } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'runner-kill-'));
  const opened: ReturnType<typeof openRunner>[] = [];
  try {
    const invocationId = await runAndKill(
      folder,
      ...[url, schema].filter((one) => one !== undefined),
    );
    await check({
      folder,
      invocationId,
      open: (isResumable = true) => {
        const opening = openRunner(folder, async () => undefined, { isResumable, url, schema });
        opened.push(opening);
        return opening.runner;
      },
    });
  } finally {
    for (const { runner, service } of opened) {
      await runner.close();
      await service.close();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
