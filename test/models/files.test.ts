import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { Content, LogEvent, Part } from '../../src/core/index.ts';
import { contentText } from '../../src/core/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { openWireModel } from './wire-model.ts';
import { wireFormats } from './wire/wire-formats.ts';

const data = Buffer.from('some bytes').toString('base64');

/** Files that at least one provider does not support. */
const FILES: readonly Part[] = [
  { inlineData: { mimeType: 'text/csv', data, displayName: 'a.csv' } },
  { inlineData: { mimeType: 'audio/ogg', data } },
  { inlineData: { mimeType: 'application/zip', data, displayName: 'b.zip' } },
  { inlineData: { mimeType: 'video/mp4', data } },
  { inlineData: { mimeType: 'application/x-unheard-of', data } },
  { inlineData: { mimeType: 'image/tiff', data } },
  { fileData: { mimeType: 'application/pdf', fileUri: 'http://127.0.0.1/internal.pdf' } },
  { fileData: { mimeType: 'image/png', fileUri: 'ftp://example.com/a.png' } },
  { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' } },
];

async function send(session: Session, content: Content | string): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.send(content)) if ('seq' in event) events.push(event);
  return events;
}

for (const format of wireFormats) {
  test(`a file that a model does not support does not fail the turn: ${format.name}`, async () => {
    for (const file of FILES) {
      await using wire = await openWireModel(format, [{ text: 'I see.' }]);
      const assistant = agent({ name: 'assistant', model: wire.model, modelAttempts: 1 });
      await using runtime = await openRuntime({ agents: [assistant] });
      const session = await runtime.session('s');
      for (const message of [
        { role: 'user' as const, parts: [{ text: 'Look.' }, file] },
        'Well?',
      ]) {
        const events = await send(session, message);
        const answer = events.find((event) => event.type === 'agent.message');
        assert.ok(answer !== undefined, `${format.name} ${JSON.stringify([file, events.at(-2)])}`);
        assert.equal(contentText(answer.content), 'I see.');
        const sent = JSON.stringify(wire.server.requests.at(-1)?.body);
        const isNamed = sent.includes('you cannot be shown it');
        const { mimeType } = 'inlineData' in file ? file.inlineData : { mimeType: '' };
        if (isNamed) assert.ok(sent.includes(mimeType));
        const { warnings = '' } = answer.providerMetadata ?? {};
        assert.equal(/was not shown to the model/.test(warnings), isNamed);
      }
    }
  });
}

test('with onUnsupported "refuse" an unsupported file fails the turn', async () => {
  const format = wireFormats.find(({ name }) => name === 'ollama');
  assert.ok(format);
  await using wire = await openWireModel(format, [{ text: 'I see.' }]);
  const config = { onUnsupported: 'refuse' as const };
  const assistant = agent({ name: 'assistant', model: wire.model, modelAttempts: 1, config });
  await using runtime = await openRuntime({ agents: [assistant] });
  const [file] = FILES;
  assert.ok(file);
  const events = await send(await runtime.session('s'), { role: 'user', parts: [file] });
  const error = events.find((event) => event.type === 'error');
  assert.equal(error?.code, 'model_unsupported');
  assert.equal(wire.server.requests.length, 0);
});
