import { omitUndefined } from '../core/internal.ts';
import type { SpanContext } from '@opentelemetry/api';
import { isJsonObject } from '../core/index.ts';
import type { JsonObject } from '../core/index.ts';
import type { TelemetryApi } from './telemetry-api.ts';

const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Converts a span's context to W3C Trace Context, to be journaled. */
export function toTraceParent({
  traceId,
  spanId,
  traceFlags,
  traceState,
}: SpanContext): JsonObject {
  const flags = traceFlags.toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...omitUndefined({ tracestate: state !== '' ? state : undefined }),
  };
}

/** Parses the result of `toTraceParent`. Returns `undefined` if it is missing or damaged. */
export function fromTraceParent(api: TelemetryApi, traceContext: unknown): SpanContext | undefined {
  if (!isJsonObject(traceContext) || typeof traceContext['traceparent'] !== 'string')
    return undefined;
  const [, traceId = '', spanId = '', flags = ''] = PARENT.exec(traceContext['traceparent']) ?? [];
  const { tracestate } = traceContext;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...omitUndefined({
      traceState: typeof tracestate === 'string' ? api.createTraceState(tracestate) : undefined,
    }),
  };
  return api.isSpanContextValid(context) ? context : undefined;
}
