/** A process to be killed: it traces a session whose tool never ends, and prints its finished spans. */
import { trace } from '@opentelemetry/api';
import { openRuntime } from '../../src/runtime/index.ts';
import { recordedTelemetry, within } from './spans.ts';
import { mapReader } from './map-reader.ts';

const { telemetry, spans } = await recordedTelemetry();
const [, , store = '', caller = ''] = process.argv;
const runtime = await openRuntime({
  agents: [
    mapReader(async () => {
      process.send?.(spans().map((span) => ({ name: span.name, ...span.spanContext() })));
      // The process is killed while this runs.
      setInterval(() => {}, 1000);
      await new Promise(() => {});
    }),
  ],
  store,
  interceptors: [telemetry],
});
const session = await runtime.session('s1');
const { traceId = '', spanId = '' } = Object.fromEntries(new URLSearchParams(caller));
const parent = trace.wrapSpanContext({ traceId, spanId, traceFlags: 1 });
await within(parent, async () => session.send('Where is it?').accepted);
