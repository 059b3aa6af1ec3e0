import { test } from 'node:test';
import { resolveModel } from '../../src/models/index.ts';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { modelContract, type ModelHarness } from '../../src/testing/index.ts';
import type { WireFormat } from './wire/wire-format.ts';
import { wireFormats } from './wire/wire-formats.ts';
import { openWireServer, wireEnv } from './wire/wire-server.ts';

for (const format of wireFormats) {
  for (const { name, needs, check } of modelContract) {
    // OpenAI's chat completions never show thinking.
    if (needs === 'thinking' && format.name === 'openai chat') continue;
    test(`${format.name}: ${name}`, () => check((turns) => makeHarness(format, turns)));
  }
}

async function makeHarness(
  format: WireFormat,
  turns: readonly ScriptedTurn[],
): Promise<ModelHarness> {
  const server = await openWireServer(format, turns);
  const env = wireEnv(format, server.baseUrl);
  return {
    model: await resolveModel(format.ref(server.baseUrl), { env }),
    requestCount: () => server.requests.length,
    close: async () => server[Symbol.asyncDispose](),
  };
}
