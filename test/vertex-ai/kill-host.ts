/** A process that runs one message, with a tool, in a session of the fake: `kill-host.ts <endpoint> <store>`. */
import { App, FunctionTool, LlmAgent, Runner } from '../../src/adk/index.ts';
import { VertexAiSessionService } from '../../src/adk/vertex-ai/index.ts';
import type { Clock } from '../../src/net/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { ENGINE } from './open-fake.ts';

export const address = { appName: 'chatbot', userId: 'alice', sessionId: 's1' } as const;

export function openRunner(
  apiEndpoint: string,
  store: string,
  clock?: Clock,
): { readonly runner: Runner; readonly service: VertexAiSessionService } {
  const options = clock === undefined ? {} : { clock };
  const service = new VertexAiSessionService({ ...ENGINE, apiEndpoint, store, ...options });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look' }] } : { text: 'Done.' },
  );
  const look = new FunctionTool({
    name: 'look',
    description: 'Looks',
    readOnly: true,
    execute: async () => ({ seen: true }),
  });
  const rootAgent = new LlmAgent({ name: 'helper', model, tools: [look] });
  const app = new App({ name: 'chatbot', rootAgent });
  return { runner: new Runner({ app, sessionService: service, ...options }), service };
}

const [, , apiEndpoint, store] = process.argv;
if (apiEndpoint?.startsWith('http') === true && store !== undefined) {
  const { runner, service } = openRunner(apiEndpoint, store);
  await runner.run({ ...address, newMessage: 'First' });
  await runner.close();
  await service.close();
}
