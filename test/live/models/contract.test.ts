import { describe, it } from 'node:test';
import { geminiLive } from '../../../src/live/models/gemini/gemini-live.ts';
import { openaiRealtime } from '../../../src/live/models/openai/openai-realtime.ts';
import { ScriptedLive } from '../../../src/live/models/scripted/scripted-live.ts';
import { systemClock } from '../../../src/net/index.ts';
import { liveContract } from './contract/live-contract.ts';
import { cascadedScript } from './scripted-speech.ts';
import type { LiveFeature, MakeLiveHarness } from './contract/live-harness.ts';
import { openGeminiServer } from './servers/gemini-server.ts';
import { openRealtimeServer } from './servers/realtime-server.ts';

const key = 'test-key-123456';
const model = 'live-model';

const implementations: readonly {
  readonly name: string;
  /** What the protocol does not have. */
  readonly without: readonly LiveFeature[];
  readonly makeHarness: MakeLiveHarness;
}[] = [
  {
    name: 'ScriptedLive',
    without: [],
    makeHarness: async (script) => ({
      model: new ScriptedLive(script),
      close: async () => undefined,
    }),
  },
  {
    name: 'cascadedLive',
    without: ['resumption', 'go-away', 'call-cancellation', 'reply-errors', 'server-close'],
    makeHarness: async (script) => ({
      model: cascadedScript(script),
      close: async () => undefined,
    }),
  },
  {
    name: 'geminiLive',
    without: ['reply-errors', 'finish-reasons'],
    makeHarness: async (script) => {
      const server = await openGeminiServer({ script, clock: systemClock, key, model });
      const baseUrl = `http://127.0.0.1:${server.port}`;
      return { model: geminiLive({ model, apiKey: key, baseUrl }), close: server.close };
    },
  },
  {
    name: 'openaiRealtime',
    without: ['resumption', 'go-away', 'call-cancellation', 'thinking'],
    makeHarness: async (script) => {
      const server = await openRealtimeServer({ script, clock: systemClock, key, model });
      const baseUrl = `http://127.0.0.1:${server.port}/v1`;
      return { model: openaiRealtime({ model, apiKey: key, baseUrl }), close: server.close };
    },
  },
];

for (const { name, without, makeHarness } of implementations) {
  describe(`${name} is a live model`, () => {
    for (const { name: title, needs, check } of liveContract) {
      const skip = needs !== undefined && without.includes(needs) && `the protocol has no ${needs}`;
      it(title, { skip }, () => check(makeHarness));
    }
  });
}
