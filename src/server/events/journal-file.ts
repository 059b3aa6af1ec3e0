import { isPetrichorError } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { SessionInspection } from '../../runtime/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { exportArtifacts, JOURNAL_FILE_VERSION, toCopyLines } from '../../runtime/internal.ts';
import { HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { createJournalRedactor } from '../wire/redact-journal.ts';
import { toWireForkPoint, toWireNet } from '../wire/to-wire-inspection.ts';
import { openProjection, readLog, toSessionKey } from './session-log.ts';

/** A client that reads slowly keeps a connection of the store, so few files are sent at a time. */
const MAX_JOURNAL_FILES = 4;

/** What a journal file is written from. */
export interface JournalFileSource {
  readonly context: ServerContext;
  readonly session: ManagedSession;
  /** The session as the API shows it. */
  readonly wireSession: Wire<'Session'>;
  readonly inspection: SessionInspection;
  /** True: values and undeclared keys are replaced by their types and hashes. */
  readonly isRedacted: boolean;
  /** Undefined: no artifacts are written. */
  readonly artifacts: ArtifactService | undefined;
}

/**
 * Returns the file of a session's journal: a JSON value per line. The first line has the session and its net, the last
 * one counts the others, so that a reader notices a file that was cut off.
 * @throws HttpError 429 while four files are being sent
 */
export function journalFileResponse(
  source: JournalFileSource,
  destroyConnection: () => void,
): Response {
  const { id } = source.session;
  const { journalFiles, clock, readerTimeoutMs, onError } = source.context;
  if (journalFiles.size >= MAX_JOURNAL_FILES)
    throw new HttpError(429, 'Too many journal files are being sent: try again later.', {
      retryAfterSeconds: 5,
    });
  const counts = { records: 0, events: 0 };
  const lines = toCopyLines(journalValues(source, counts), () => counts);
  const encoder = new TextEncoder();
  // A reader that reads nothing more leaves its place to others.
  let cancelIdle = (): void => {};
  const watchIdle = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cancelIdle = clock.at(clock.now() + readerTimeoutMs, () => {
      journalFiles.delete(lines);
      controller.error(
        new HttpError(408, `The journal file was not read for ${readerTimeoutMs} ms.`),
      );
      destroyConnection();
      void lines.return().catch(onError);
    });
  };
  const finish = (): void => {
    cancelIdle();
    journalFiles.delete(lines);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        cancelIdle();
        journalFiles.add(lines);
        try {
          const { value, done } = await lines.next();
          if (done !== true) {
            controller.enqueue(encoder.encode(value));
            watchIdle(controller);
            return;
          }
          finish();
          controller.close();
        } catch (error) {
          finish();
          throw error;
        }
      },
      cancel: async () => {
        finish();
        await lines.return();
      },
    },
    // Nothing is opened for a response whose body nobody reads.
    { highWaterMark: 0 },
  );
  const name = id.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  return new Response(body, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.journal.jsonl"`,
      'cache-control': 'no-store',
    },
  });
}

/** The numbers of the last record and event of the session itself, without those of called agents. */
interface Counts {
  records: number;
  events: number;
}

/** The lines of a journal file without the last one, which has `counts`. */
export async function* journalValues(
  { context, session, wireSession, inspection, isRedacted, artifacts }: JournalFileSource,
  counts: Counts,
): AsyncGenerator<object, void, undefined> {
  const net = await readNet(inspection);
  const redactor = isRedacted ? createJournalRedactor(net) : undefined;
  const shown = toJson(wireSession);
  yield {
    type: 'journal',
    version: JOURNAL_FILE_VERSION,
    redacted: isRedacted,
    session: redactor?.session(shown) ?? shown,
    net,
  };
  let lastSeq = 0;
  let sessions = 0;
  for await (const item of context.store.exportItems({ session: toSessionKey(session) })) {
    if (item.type === 'session' && ++sessions === 1) ({ lastSeq } = item);
    if (item.type === 'step' && sessions === 1)
      counts.records = item.records.at(-1)?.seq ?? counts.records;
    if (redactor === undefined) yield item;
    else if (item.type === 'step' && sessions === 1)
      yield {
        ...item,
        records: item.records.map((record) => redactor.record(toJson(record))),
        events: [],
      };
  }
  if (redactor === undefined && artifacts !== undefined)
    yield* exportArtifacts(artifacts, [toSessionKey(session)]);
  for await (const point of inspection.forkPoints())
    if (point.record <= counts.records)
      yield { type: 'fork_point', fork_point: toJson(toWireForkPoint(point)) };
  const { projection } = openProjection(context, session);
  for await (const entry of readLog(context, session, 0)) {
    if (entry.seq > lastSeq) break;
    for (const event of await projection.project(entry)) {
      const whole = toJson(event);
      counts.events++;
      yield { type: 'event', event: redactor?.event(whole) ?? whole };
    }
  }
}

/** Null: the agent of the session is not known here. */
async function readNet(inspection: SessionInspection): Promise<Json> {
  try {
    return toJson(toWireNet(await inspection.net()));
  } catch (error) {
    if (isPetrichorError(error) && error.code === 'unknown_agent') return null;
    throw error;
  }
}

/** The value as its JSON is read: without members that are undefined. */
function toJson(value: unknown): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- objects of the wire, whose JSON is an object
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
