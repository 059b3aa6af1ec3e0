import { resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import type { SessionKey } from '../../core/index.ts';
import type { ManagedRuntime } from '../../managed/index.ts';
import type { Clock } from '../../net/index.ts';
import { applyRetention } from '../../runtime/index.ts';
import type { RetentionResult } from '../../runtime/index.ts';
import {
  createExporter,
  removeUnchangedSession,
  SESSION_INDEX,
  WorkspaceIndex,
} from '../../server/internal.ts';
import { readOnlyStore } from '../../store/internal.ts';
import type { DeleteCondition, Store } from '../../store/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command, type CommandCall } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { toFailureJson } from '../command/failure-json.ts';
import type { Switch, TextOption } from '../command/options.ts';
import { DEFAULT_STORE, storeOption } from '../command/shared-options.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { archiveOption } from '../loading/open-archive.ts';
import { readRetention } from '../loading/retention-file.ts';
import { openReadingRuntime } from '../serve/open-reading-runtime.ts';
import { NO_AGENTS } from '../serve/served-agents.ts';
import { printable } from '../terminal/printable.ts';

/** The command that archives or deletes the sessions that a policy no longer keeps, and trims journals. */
export const retainCommand: Command = defineCommand({
  name: 'retain',
  operands: ['FILE'],
  summary: 'Archive, delete or trim the sessions that a retention policy no longer keeps whole',
  description: [
    'FILE is JSON: { "rules": [ { "agent": "support", "deleteAfterDays": 90 } ] }. The first rule that matches the app,',
    'user and agent of a session applies. A session is deleted when its last record is that old, and it is idle, completed',
    'or archived, with no call, timer, unread message or schedule. Others are kept, with the reason. With archiveAfterDays in',
    'place of deleteAfterDays, it is first written to --archive and read back from there; petrichor import --archive fetches it.',
    'With trimAfterDays, the journal records of older steps are removed from sessions that stay: they continue, and keep their log.',
    'Servers can use the store meanwhile: a session that gets a message in the last moment stays. petrichor serve --retention',
    'FILE does the same every hour, sends webhooks, and removes the folders of a sandbox.',
  ].join('\n'),
  options: {
    store: storeOption,
    app: {
      type: 'string',
      value: 'NAME',
      summary: 'Only sessions of this application. Default: all',
    },
    archive: archiveOption,
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary:
        'The folder of a FileArtifactService, whose artifacts are archived with their session',
    },
    'dry-run': {
      type: 'boolean',
      summary: 'List what would be archived, deleted or trimmed, and change nothing',
    },
  },
  run: async (call) => {
    const { values, operands, cwd, clock } = call;
    const [file = ''] = operands;
    const isDryRun = values['dry-run'];
    const { retention, archive } = readRetention(file, call, 'retain', isDryRun);
    const url = values.store ?? DEFAULT_STORE;
    const counts = await withExistingStore(url, cwd, async (store) => {
      await using applications = new Applications(store, { url, clock });
      const artifacts = toArtifacts(call);
      const results = applyRetention(store, retention, {
        ...omitUndefined({ app: values.app, archive }),
        dryRun: isDryRun,
        clock,
        exportSession: (key) => applications.export(key, artifacts),
        remove: async (key, condition) => applications.remove(key, condition),
      });
      const found: Record<Counted, number> = {
        archived: 0,
        deleted: 0,
        trimmed: 0,
        planned: 0,
        plannedTrims: 0,
        kept: 0,
        changed: 0,
        failed: 0,
      };
      for await (const result of results) {
        const { outcome, trim } = result;
        found[outcome === 'planned' && trim !== undefined ? 'plannedTrims' : outcome]++;
        report(call, result);
      }
      return found;
    });
    if (!values.json) call.stdout.write(`${summarize(counts, isDryRun)}\n`);
    return counts.failed > 0 ? EXIT_FAILURE : EXIT_OK;
  },
});

type RetainCall = CommandCall<{ readonly 'dry-run': Switch; readonly artifacts: TextOption }>;

function toArtifacts({ values, cwd, clock }: RetainCall): ArtifactService | undefined {
  if (values.artifacts === undefined) return undefined;
  return new FileArtifactService({ rootDir: resolve(cwd, values.artifacts), clock });
}

/** The runtimes of applications. They run no sessions, and delete them with what servers store about them. */
class Applications {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #sessions: WorkspaceIndex;
  readonly #runtimes = new Map<string, ManagedRuntime & AsyncDisposable>();

  constructor(store: Store, { url, clock }: { readonly url: string; readonly clock: Clock }) {
    this.#store = {
      ...readOnlyStore(store, url),
      delete: store.delete.bind(store),
      document: store.document.bind(store),
      documents: store.documents.bind(store),
      writeDocuments: store.writeDocuments.bind(store),
      // The runtimes close it.
      close: async () => {},
    };
    this.#clock = clock;
    this.#sessions = new WorkspaceIndex(store, SESSION_INDEX);
  }

  async remove(key: SessionKey, condition: DeleteCondition): Promise<boolean> {
    const runtime = await this.#open(key);
    return removeUnchangedSession({ runtime, sessions: this.#sessions }, key, condition);
  }

  async *export(
    key: SessionKey,
    artifacts: ArtifactService | undefined,
  ): AsyncGenerator<object, void, undefined> {
    const runtime = await this.#open(key);
    yield* createExporter({ runtime, store: this.#store, clock: this.#clock })(key, { artifacts });
  }

  async #open({ appName }: SessionKey): Promise<ManagedRuntime> {
    const runtime =
      this.#runtimes.get(appName) ??
      (await openReadingRuntime({
        app: appName,
        store: this.#store,
        served: NO_AGENTS,
        clock: this.#clock,
      }));
    this.#runtimes.set(appName, runtime);
    return runtime;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#runtimes.values()) await runtime[Symbol.asyncDispose]();
  }
}

function report({ values, stdout }: RetainCall, result: RetentionResult): void {
  const { key, agent, lastRecordAt, outcome, copy, obstacle, trim, error } = result;
  const failure = outcome === 'failed' ? toFailureJson(error) : undefined;
  if (values.json) {
    const line = {
      key,
      agent,
      lastRecordAt,
      outcome,
      ...omitUndefined({ copy, obstacle, trim, error: failure }),
    };
    stdout.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const since = new Date(lastRecordAt).toISOString().slice(0, 10);
  const trimmed = trim && `${trim.records} records up to step ${trim.step}`;
  const reason = copy?.uri ?? obstacle?.replaceAll('_', ' ') ?? failure?.message ?? trimmed;
  const text = `${outcome}: session "${key.sessionId}" of user ${key.userId}, app ${key.appName}, since ${since}`;
  stdout.write(`${printable(reason === undefined ? text : `${text}: ${reason}`)}\n`);
}

/** What is counted: a dry run distinguishes the journals that it would trim. */
type Counted = RetentionResult['outcome'] | 'plannedTrims';

function summarize(counts: Readonly<Record<Counted, number>>, isDryRun: boolean): string {
  const { archived, deleted, trimmed, planned, plannedTrims, kept, changed, failed } = counts;
  const first = isDryRun
    ? `${planned} would be archived or deleted, ${plannedTrims} would be trimmed`
    : `${archived} archived, ${deleted} deleted, ${trimmed} trimmed`;
  return `${first}, ${kept} kept because of their state, ${changed} changed in the meantime, ${failed} failed.`;
}
