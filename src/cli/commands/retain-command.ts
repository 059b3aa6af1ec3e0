import { omitUndefined } from '../../core/internal.ts';
import type { SessionKey } from '../../core/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import { applyRetention } from '../../runtime/index.ts';
import type { RetentionResult } from '../../runtime/index.ts';
import { SESSION_INDEX, removeUnchangedSession, WorkspaceIndex } from '../../server/internal.ts';
import { readOnlyStore } from '../../store/internal.ts';
import type { Store } from '../../store/index.ts';
import { defineCommand, type Command, type CommandCall } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { toFailureJson } from '../command/failure-json.ts';
import type { Switch } from '../command/options.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { readRetentionPolicy } from '../loading/retention-file.ts';
import { openReadingRuntime } from '../serve/open-reading-runtime.ts';
import { NO_AGENTS } from '../serve/served-agents.ts';
import { printable } from '../terminal/printable.ts';

/** The command that deletes the sessions that a policy no longer keeps. */
export const retainCommand: Command = defineCommand({
  name: 'retain',
  operands: ['FILE'],
  summary: 'Delete the sessions that a retention policy no longer keeps',
  description: [
    'FILE is JSON: { "rules": [ { "agent": "support", "deleteAfterDays": 90 } ] }. The first rule that matches the app,',
    'user and agent of a session applies. A session is deleted when its last record is that old, and it is idle, completed',
    'or archived, with no call, timer, unread message or schedule. Others are kept, with the reason. Servers can use the',
    'store meanwhile: a session that gets a message in the last moment stays. petrichor serve --retention FILE does the same',
    'every hour, sends webhooks, and removes the folders of a sandbox.',
  ].join('\n'),
  options: {
    store: storeOption,
    app: {
      type: 'string',
      value: 'NAME',
      summary: 'Only sessions of this application. Default: all',
    },
    'dry-run': { type: 'boolean', summary: 'List what would be deleted, and delete nothing' },
  },
  run: async (call) => {
    const { values, operands, cwd, clock } = call;
    const [file = ''] = operands;
    const policy = readRetentionPolicy(file, cwd, 'retain');
    const url = values.store ?? DEFAULT_STORE;
    const counts = await withExistingStore(url, cwd, async (store) => {
      await using remover = new SessionRemover(store, url, call);
      const results = applyRetention(store, policy, {
        ...omitUndefined({ app: values.app }),
        dryRun: values['dry-run'],
        clock,
        remove: async (key, condition) =>
          removeUnchangedSession(await remover.open(key), key, condition),
      });
      const found = { deleted: 0, planned: 0, kept: 0, changed: 0, failed: 0 };
      for await (const result of results) {
        found[result.outcome]++;
        report(call, result);
      }
      return found;
    });
    if (!values.json) call.stdout.write(`${summarize(counts, values['dry-run'])}\n`);
    return counts.failed > 0 ? EXIT_FAILURE : EXIT_OK;
  },
});

type RetainCall = CommandCall<{ readonly 'dry-run': Switch }>;

/** The runtimes of applications. They run no sessions, and delete them with what servers store about them. */
class SessionRemover {
  readonly #store: Store;
  readonly #call: Pick<RetainCall, 'clock'>;
  readonly #sessions: WorkspaceIndex;
  readonly #runtimes = new Map<string, ManagedRuntime & AsyncDisposable>();

  constructor(store: Store, url: string, call: Pick<RetainCall, 'clock'>) {
    this.#store = {
      ...readOnlyStore(store, url),
      delete: store.delete.bind(store),
      document: store.document.bind(store),
      documents: store.documents.bind(store),
      writeDocuments: store.writeDocuments.bind(store),
      // The runtimes close it.
      close: async () => {},
    };
    this.#call = call;
    this.#sessions = new WorkspaceIndex(store, SESSION_INDEX);
  }

  async open({ appName }: SessionKey): Promise<Parameters<typeof removeUnchangedSession>[0]> {
    const runtime =
      this.#runtimes.get(appName) ??
      (await openReadingRuntime({
        app: appName,
        store: this.#store,
        served: NO_AGENTS,
        clock: this.#call.clock,
      }));
    this.#runtimes.set(appName, runtime);
    return { runtime, sessions: this.#sessions };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#runtimes.values()) await runtime[Symbol.asyncDispose]();
  }
}

function report({ values, stdout }: RetainCall, result: RetentionResult): void {
  const { key, agent, lastRecordAt, outcome, obstacle, error } = result;
  const failure = outcome === 'failed' ? toFailureJson(error) : undefined;
  if (values.json) {
    const line = {
      key,
      agent,
      lastRecordAt,
      outcome,
      ...omitUndefined({ obstacle, error: failure }),
    };
    stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const since = new Date(lastRecordAt).toISOString().slice(0, 10);
  const reason = obstacle?.replaceAll('_', ' ') ?? failure?.message;
  const text = `${outcome}: session "${key.sessionId}" of user ${key.userId}, app ${key.appName}, since ${since}`;
  stdout.write(`${printable(reason === undefined ? text : `${text}: ${reason}`)}\n`);
}

function summarize(
  counts: Readonly<Record<RetentionResult['outcome'], number>>,
  isDryRun: boolean,
): string {
  const { deleted, planned, kept, changed, failed } = counts;
  const first = isDryRun ? `${planned} would be deleted` : `${deleted} deleted`;
  return `${first}, ${kept} kept because of their state, ${changed} changed in the meantime, ${failed} failed.`;
}
