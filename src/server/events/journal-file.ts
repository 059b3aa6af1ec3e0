import { isPetrichorError } from '../../core/internal.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { SessionInspection } from '../../runtime/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { createJournalRedactor } from '../wire/redact-journal.ts';
import { toWireForkPoint, toWireNet, toWireRecord } from '../wire/to-wire-inspection.ts';
import { openProjection, readLog } from './session-log.ts';

/** The version of the format of journal files. */
const VERSION = 1;

/** What a journal file is written from. */
export interface JournalFileSource {
  readonly context: ServerContext;
  readonly session: ManagedSession;
  /** The session as the API shows it. */
  readonly wireSession: Wire<'Session'>;
  readonly inspection: SessionInspection;
  /** True: values and undeclared keys are replaced by their types and hashes. */
  readonly isRedacted: boolean;
}

/**
 * Returns the file of a session's journal: a JSON value per line. The first line has the session and its net, the last
 * one counts the others, so that a reader notices a file that was cut off.
 */
export function journalFileResponse(source: JournalFileSource): Response {
  const { id } = source.session;
  const lines = toLines(source);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    cancel: async () => void (await lines.return(undefined)),
  });
  const name = id.replaceAll(/[^\w.-]/g, '_').slice(0, 100);
  return new Response(body, {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.journal.jsonl"`,
      'cache-control': 'no-store',
    },
  });
}

async function* toLines({
  context,
  session,
  wireSession,
  inspection,
  isRedacted,
}: JournalFileSource): AsyncGenerator<JsonObject, void, undefined> {
  const net = await readNet(inspection);
  const redactor = isRedacted ? createJournalRedactor(net) : undefined;
  const shown = toJson(wireSession);
  yield {
    type: 'journal',
    version: VERSION,
    redacted: isRedacted,
    session: redactor?.session(shown) ?? shown,
    net,
  };
  let records = 0;
  for await (const record of inspection.records(0, { values: 'full' })) {
    const { stored, step } = toWireRecord(record, session.id);
    const whole = toJson(stored);
    records++;
    yield { type: 'record', step, record: redactor?.record(whole) ?? whole };
  }
  for await (const point of inspection.forkPoints())
    yield { type: 'fork_point', fork_point: toJson(toWireForkPoint(point)) };
  const { projection } = openProjection(context, session);
  let events = 0;
  for await (const entry of readLog(context, session, 0))
    for (const event of await projection.project(entry)) {
      const whole = toJson(event);
      events++;
      yield { type: 'event', event: redactor?.event(whole) ?? whole };
    }
  yield { type: 'end', records, events };
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
