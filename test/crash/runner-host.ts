// A process that runs the agents of an app until it is killed. Arguments: its folder, and URL and schema of its sessions.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel } from '../../src/models/index.ts';
import { App, DatabaseSessionService, LlmAgent, Runner } from '../../src/adk/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

export const APP = 'demo';
export const here = { userId: 'u1', sessionId: 's1' } as const;

export interface RunnerHostOptions {
  readonly isResumable?: boolean;
  /** The URL of the database with the sessions. Default: a SQLite file in the folder. */
  readonly url?: string | undefined;
  /** The schema of the tables in a PostgreSQL database. */
  readonly schema?: string | undefined;
}

/** The app of both processes. It calls two tools, one after the other, and then answers. */
export function openRunner(
  folder: string,
  hold: (name: string) => Promise<void>,
  { isResumable = true, url = join(folder, 'sessions.db'), schema }: RunnerHostOptions = {},
): { readonly runner: Runner; readonly service: DatabaseSessionService } {
  const acting = (name: string): Tool =>
    tool({
      name,
      description: name,
      onCrash: 'rerun',
      execute: async (_, { attempt }) => {
        await hold(name);
        appendFileSync(join(folder, 'done'), `${name} ${attempt}\n`);
        return { did: name };
      },
    });
  const model = new ScriptedModel(({ contents }) => {
    appendFileSync(join(folder, 'asked'), `${contents.length}\n`);
    const last = contents.findLastIndex(({ role }) => role === 'user');
    const count = contents.slice(last + 1).length;
    if (count === 0) return { toolCalls: [{ name: 'first', args: {} }] };
    return count === 2 ? { toolCalls: [{ name: 'second', args: {} }] } : { text: 'Both are done.' };
  });
  const service = new DatabaseSessionService(url, { ...(schema !== undefined && { schema }) });
  const app = new App({
    name: APP,
    rootAgent: new LlmAgent({ name: 'clerk', model, tools: [acting('first'), acting('second')] }),
    resumabilityConfig: { isResumable },
  });
  return { service, runner: new Runner({ app, sessionService: service }) };
}

const [, script, folder, url, schema] = process.argv;
if (script === import.meta.filename && folder !== undefined) {
  const forEver = new Promise<void>(() => undefined);
  const alive = setInterval(() => undefined, 1000);
  const hold = async (name: string): Promise<void> => {
    if (name !== 'second') return;
    process.send?.('in second');
    await forEver;
  };
  const { runner, service } = openRunner(folder, hold, { url, schema });
  await service.createSession({ appName: APP, ...here });
  for await (const { invocationId } of runner.runAsync({ ...here, newMessage: 'Go' }))
    process.send?.({ invocationId });
  clearInterval(alive);
}
