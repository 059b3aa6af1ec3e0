/** Live sessions of a runner over scripted servers of both wire protocols. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FunctionTool, InMemoryRunner, LiveRequestQueue, LlmAgent } from '../../src/adk/index.ts';
import type { Event } from '../../src/core/index.ts';
import { geminiLive, openaiRealtime } from '../../src/live/index.ts';
import type { LiveModel, LiveScript } from '../../src/live/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { openGeminiServer } from '../live/models/servers/gemini-server.ts';
import { openRealtimeServer } from '../live/models/servers/realtime-server.ts';
import type { WireServer } from '../live/models/servers/wire-server.ts';
import { describeEvent } from './live-session.ts';

const key = 'test-key-123456';
const model = 'live-model';
const address = { userId: 'u', sessionId: 's' } as const;

interface Server {
  readonly server: WireServer;
  readonly live: LiveModel;
}

async function openGemini(script: LiveScript, reportsSpeech: boolean): Promise<Server> {
  const options = { script, clock: systemClock, key, model, reportsSpeech };
  const server = await openGeminiServer(options);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return { server, live: geminiLive({ model, apiKey: key, baseUrl }) };
}

const protocols: Readonly<Record<string, (script: LiveScript) => Promise<Server>>> = {
  'Gemini Live': async (script) => openGemini(script, true),
  'Gemini Live, with a model that reports no speech': async (script) => openGemini(script, false),
  'OpenAI Realtime': async (script) => {
    const server = await openRealtimeServer({ script, clock: systemClock, key, model });
    const baseUrl = `http://127.0.0.1:${server.port}/v1`;
    return { server, live: openaiRealtime({ model, apiKey: key, baseUrl }) };
  },
};

/** 300 ms of speech, and silence. */
function speak(queue: LiveRequestQueue): void {
  for (const [frames, loudness] of [
    [15, 4_000],
    [40, 0],
  ] as const) {
    for (let frame = 0; frame < frames; frame++) {
      const data = Buffer.from(new Int16Array(320).fill(loudness).buffer).toString('base64');
      queue.sendRealtime({ mimeType: 'audio/pcm;rate=16000', data });
    }
  }
}

const weather = new FunctionTool({
  name: 'weather',
  description: 'The weather.',
  execute: () => 'sunny',
});
const story = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

for (const [name, open] of Object.entries(protocols)) {
  describe(`a live session over ${name}`, () => {
    it('has text and audio turns, a tool, and an interruption', async () => {
      const { server, live } = await open({
        turns: [
          { text: 'Hi there.' },
          { heard: 'Is it sunny?', toolCalls: [{ id: 'c1', name: 'weather' }] },
          { text: 'It is.' },
          { heard: 'Tell me all.', text: story, wordDelayMs: 20 },
          { heard: 'Stop.', text: 'All right.' },
        ],
      });
      const agent = new LlmAgent({ name: 'assistant', model: live, tools: [weather] });
      const queue = new LiveRequestQueue();
      queue.sendContent({ role: 'user', parts: [{ text: 'Hello' }] });
      const events: Event[] = [];
      let turns = 0;
      let hasInterrupted = false;
      try {
        await using runner = new InMemoryRunner({ agent, autoCreateSession: true });
        for await (const event of runner.runLive({ ...address, liveRequestQueue: queue })) {
          events.push(event);
          if (event.turnComplete === true && ++turns < 3) speak(queue);
          if (turns === 4) queue.close();
          const isStory = event.outputTranscription?.text.includes('word2') === true;
          if (!isStory || hasInterrupted) continue;
          hasInterrupted = true;
          speak(queue);
        }
      } finally {
        await server.close();
      }
      const stored = events
        .filter(({ partial }) => partial !== true)
        .flatMap((event) => describeEvent(event) ?? []);
      const cut = stored.find((line) => line.endsWith('(interrupted)') && line.includes('word'));
      assert.ok(cut === undefined || story.startsWith(cut.slice(12, 17)), cut);
      // The transcript of the next turn may come before the end of the one that it interrupts.
      assert.ok(stored.includes('user: "Stop."'));
      assert.deepEqual(
        stored.filter((line) => line !== cut && line !== 'user: "Stop."'),
        [
          'assistant: "Hi there."',
          'turn complete',
          'user: "Is it sunny?"',
          'assistant: weather?',
          'assistant: weather: {"result":"sunny"}',
          'assistant: "It is."',
          'turn complete',
          'user: "Tell me all."',
          'turn complete (interrupted)',
          'assistant: "All right."',
          'turn complete',
        ],
      );
      assert.ok(!JSON.stringify(events).includes(key));
    });
  });
}
