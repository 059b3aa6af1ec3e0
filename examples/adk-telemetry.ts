/** Telemetry: the spans of a session, below the sender's span. */
import assert from 'node:assert/strict';
import {
  InMemorySpanExporter,
  BasicTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { App, FunctionTool, InMemoryRunner, LlmAgent, OpenTelemetryPlugin } from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';

// In a program: your SDK's provider, or none for the global one.
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});

const look = new FunctionTool({ name: 'look', description: 'Looks', execute: () => 'a tree' });
const model = new ScriptedModel(
  ({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look' }] } : { text: 'A tree.' },
  { name: 'google/gemini-2.5-flash' },
);
const app = new App({
  name: 'demo',
  rootAgent: new LlmAgent({ name: 'scout', model, tools: [look] }),
  plugins: [await OpenTelemetryPlugin.open({ tracerProvider })], // without an app: openTelemetry() in `interceptors`
});
await using runner = new InMemoryRunner({ app });
await runner.runDebug('What is there?');

const spans = exporter.getFinishedSpans();
for (const { name, attributes } of spans) console.log(name, attributes);
assert.deepEqual(
  new Set(spans.map(({ name }) => name)),
  new Set([
    'send',
    'invocation',
    'invoke_agent scout',
    'chat gemini-2.5-flash',
    'execute_tool look',
    'commit',
  ]),
);
assert.equal(new Set(spans.map((span) => span.spanContext().traceId)).size, 1);
