import { createClient } from '../../src/client/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { Metrics } from '../../src/server/index.ts';
import { openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

/** A server with one resource of each kind, and the ids for its paths. */
export async function openFuzzFixture(): Promise<
  AsyncDisposable & { readonly url: string; readonly ids: Readonly<Record<string, string>> }
> {
  const on = await openServerFixture(scriptedChat, {
    server: { metrics: new Metrics(systemClock) },
  });
  const client = createClient({ baseUrl: on.url });
  const agent = await client.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const environment = await client.environments.create({ name: 'Here' });
  const session = await client.sessions.create({ agent: agent.id, environment_id: environment.id });
  await client.sessions.send(session.id, 'Hi');
  return {
    url: on.url,
    ids: {
      agent_id: agent.id,
      environment_id: environment.id,
      session_id: session.id,
      thread_id: session.id,
    },
    [Symbol.asyncDispose]: async () => on[Symbol.asyncDispose](),
  };
}
