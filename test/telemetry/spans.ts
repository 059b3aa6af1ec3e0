import { trace, context } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { openTelemetry } from '../../src/telemetry/index.ts';
import type { Telemetry } from '../../src/telemetry/index.ts';

/** Telemetry that records its finished spans in order of their end. */
export async function recordedTelemetry(): Promise<{
  readonly telemetry: Telemetry;
  readonly provider: BasicTracerProvider;
  readonly spans: () => readonly ReadableSpan[];
}> {
  // The active context must follow asynchronous work; otherwise spans would not become children of ours.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const telemetry = await openTelemetry({ tracerProvider: provider });
  return { telemetry, provider, spans: () => exporter.getFinishedSpans() };
}

/** Runs a function while a span is active. */
export async function within<T>(span: Span, run: () => Promise<T>): Promise<T> {
  return context.with(trace.setSpan(context.active(), span), run);
}

/** The trace as lines, each below its parent, children in order of their start. */
export function formatTree(spans: readonly ReadableSpan[]): readonly string[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (parent: string | undefined, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanContext }) =>
        parent === undefined
          ? !known.has(parentSpanContext?.spanId ?? '')
          : parentSpanContext?.spanId === parent,
      )
      .toSorted((a, b) => getStart(a) - getStart(b))
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}`,
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(undefined, 0);
}

function getStart({ startTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1e3 + nanos / 1e6;
}
