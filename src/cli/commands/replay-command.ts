import {
  formatSessionKey,
  parseSessionKey,
  PetrichorError,
  type SessionKey,
} from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import { defineCommand, type CommandCall, type Command } from '../command/command.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { UnknownSessionError } from '../loading/find-session.ts';
import { JournalReplay } from '../replay/journal-replay.ts';
import type { ReplayEnd, ReplayEntry } from '../replay/replay-entry.ts';
import { createPaint } from '../terminal/paint.ts';
import { formatFlow, formatReplayEntry } from '../replay/replay-line.ts';
import {
  appOption,
  DEFAULT_APP,
  DEFAULT_STORE,
  DEFAULT_USER,
  storeOption,
  userOption,
} from '../command/shared-options.ts';

/**
 * The records of a journal do not follow from each other. The journal was not changed.
 * @remedy Restore the store from a backup.
 */
export class JournalDamagedError extends PetrichorError {
  override readonly code = 'journal_damaged' as const;
  readonly record: number;

  constructor(key: SessionKey, record: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `The journal of ${formatSessionKey(key)} is damaged at record ${record}: ${reason} Restore the store from a backup.`,
      { cause },
    );
    this.record = record;
  }
}

const options = { store: storeOption, user: userOption, app: appOption } as const;

/** The command that shows what a session did. */
export const replayCommand: Command = defineCommand({
  name: 'replay',
  operands: ['SESSION'],
  summary: 'Show what a session did, one firing per line; nothing runs',
  description: [
    'Recomputes the marking from the journal, record by record, without the agent. A line is a firing of its net, at',
    'the record where it ended: how long it took, what it was about, and the tokens it consumed and produced. Inputs,',
    'new attempts and new owners have their own lines. Firings in flight and the final marking come last.',
  ].join('\n'),
  options,
  run: async (call) => {
    const { values, operands, cwd } = call;
    const [sessionId = ''] = operands;
    const url = values.store ?? DEFAULT_STORE;
    const key = parseSessionKey({
      appName: values.app ?? DEFAULT_APP,
      userId: values.user ?? DEFAULT_USER,
      sessionId,
    });
    await withExistingStore(url, cwd, async (store) => {
      if ((await store.find(key)) === undefined)
        throw new UnknownSessionError(
          { sessionId: key.sessionId, user: key.userId, app: key.appName },
          url,
        );
      await replay(store, key, createWriter(call));
    });
    return EXIT_OK;
  },
});

interface ReplayWriter {
  readonly entry: (entry: ReplayEntry) => void;
  readonly end: (end: ReplayEnd) => void;
}

async function replay(store: Store, key: SessionKey, writer: ReplayWriter): Promise<void> {
  const journal = new JournalReplay();
  for await (const { records } of store.steps(key, 0)) {
    for (const record of records) {
      for (const entry of wrapDamage(key, record.seq, () => journal.apply(record)))
        writer.entry(entry);
    }
  }
  for (const entry of journal.inFlight()) writer.entry(entry);
  writer.end(journal.end());
}

function wrapDamage<T>(key: SessionKey, record: number, apply: () => T): T {
  try {
    return apply();
  } catch (error) {
    throw new JournalDamagedError(key, record, error);
  }
}

function createWriter({ values, stdout, env }: CommandCall<typeof options>): ReplayWriter {
  const write = (line: string): void => {
    stdout.write(`${line}\n`);
  };
  if (values.json) {
    return {
      entry: (entry) => write(JSON.stringify(entry)),
      end: (end) => write(JSON.stringify({ type: 'marking', ...end })),
    };
  }
  const paint = createPaint(stdout, env);
  return {
    entry: (entry) => write(formatReplayEntry(entry, paint, stdout.columns ?? Infinity)),
    end: ({ records, firings, tokens }) => {
      write(
        paint(
          'dim',
          `${firings} firings in ${records} records. Now: ${formatFlow(tokens) || 'no tokens'}.`,
        ),
      );
    },
  };
}
