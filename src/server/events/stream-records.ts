import { InvalidInputError } from '../../core/index.ts';
import type { SessionInspection, ValueDetail } from '../../runtime/index.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toWireRecord } from '../wire/to-wire-inspection.ts';
import { frame, frameStream } from './frame-stream.ts';

interface StreamRecordsQuery {
  readonly after?: number | undefined;
  readonly values?: ValueDetail | undefined;
}

/**
 * Streams the records of a session after a record, then new ones as they are committed. The id of an event is the number
 * of its record.
 * @throws InvalidInputError for an invalid `Last-Event-ID`
 */
export function streamRecords(
  { clock, closing, keepAliveMs, readerTimeoutMs }: ServerContext,
  inspection: SessionInspection,
  sessionId: string,
  {
    query: { after = 0, values = 'none' },
    request,
    isKeyValid,
    destroyConnection,
  }: Pick<
    RouteCall<StreamRecordsQuery, unknown>,
    'query' | 'request' | 'isKeyValid' | 'destroyConnection'
  >,
): Response {
  const lastId = request.headers.get('last-event-id') ?? '';
  if (!/^\d{0,15}$/.test(lastId))
    throw new InvalidInputError('last-event-id', 'must be the number of a record.');
  const from = lastId === '' ? after : Number(lastId);
  return frameStream({
    frames: (signal) => toFrames(inspection, sessionId, { from, values, signal }),
    signals: [request.signal, closing],
    isAllowed: isKeyValid,
    clock,
    keepAliveMs,
    readerTimeoutMs,
    destroyConnection,
  });
}

async function* toFrames(
  inspection: SessionInspection,
  sessionId: string,
  {
    from,
    values,
    signal,
  }: { readonly from: number; readonly values: ValueDetail; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  for await (const record of inspection.records(from, { values, follow: true, signal }))
    yield `id: ${record.record}\n${frame(toWireRecord(record, sessionId))}`;
}
